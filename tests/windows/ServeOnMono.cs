// A queue system for System.Messaging of Mono that stands on `mqconform serve`, by its control channel: the agent for
// Windows (harness/windows/MsmqAgent.cs) is compiled with this file, and its messages are real. OnServe stands in for
// what only Windows has.
//
// The provider has the name that Mono.Messaging knows: Debian's build of it takes no other for MONO_MESSAGING_PROVIDER,
// and asks for an assembly that is not installed, for which this one is handed over.
//
// SPDX-License-Identifier: GPL-2.0-or-later

using System;
using System.Collections.Generic;
using System.ComponentModel;
using System.IO;
using System.Net.Sockets;
using System.Reflection;
using System.Text;
using System.Threading;
using System.Transactions;
using Mono.Messaging;
using Messaging = System.Messaging;
using Members = System.Collections.Generic.Dictionary<string, object>;

namespace Mono.Messaging.RabbitMQ
{
    using Mqconform;
    using Mqconform.OnMono;

    public sealed class RabbitMQMessagingProvider : IMessagingProvider
    {
        public bool Exists(QueueReference name)
        {
            try
            {
                Serve.Ask("get_queue", "name", ServeQueue.Name(name));
                return true;
            }
            catch (Refused)
            {
                return false;
            }
        }

        public IMessageQueue CreateMessageQueue(QueueReference name, bool transactional)
        {
            Members made = Serve.Ask("create_queue", "name", ServeQueue.Name(name), "transactional", transactional);
            ServeQueue queue = new ServeQueue(name);
            Members names = (Members)made["format_names"];
            queue.Made = (string)(names.ContainsKey("private") ? names["private"] : names["public"]);
            return queue;
        }

        public IMessageQueue GetMessageQueue(QueueReference name) { return new ServeQueue(name); }
        public IMessage CreateMessage() { return new ServeMessage(); }
        public IMessageQueueTransaction CreateMessageQueueTransaction() { return new ServeTransaction(); }
        public void DeleteQueue(QueueReference name) { Serve.Ask("delete_queue", "name", ServeQueue.Name(name)); }
        public IMessageQueue[] GetPublicQueues() { return new IMessageQueue[0]; }
    }
}

namespace Mqconform.OnMono
{
    public static class Entry
    {
        public static int Main(string[] arguments)
        {
            AppDomain.CurrentDomain.AssemblyResolve += delegate(object sender, ResolveEventArgs asked)
            {
                return asked.Name.StartsWith("Mono.Messaging.RabbitMQ,") ? Assembly.GetExecutingAssembly() : null;
            };
            return Program.Run(arguments, new OnServe());
        }
    }

    /// <summary>The control channel of serve, whose address MQCONFORM_SERVE has; every thread may ask.</summary>
    public static class Serve
    {
        private static readonly object Gate = new object();
        private static readonly Dictionary<long, Members> Answers = new Dictionary<long, Members>();
        private static Stream stream;
        private static long last;
        private static bool ended;

        private static Stream Connected()
        {
            if (stream != null) return stream;
            string[] address = (Environment.GetEnvironmentVariable("MQCONFORM_SERVE") ?? "").Split(':');
            stream = new TcpClient(address[0], int.Parse(address[1])) { NoDelay = true }.GetStream();
            Thread reading = new Thread(Take) { IsBackground = true };
            reading.Start();
            return stream;
        }

        private static void Take()
        {
            StreamReader lines = new StreamReader(stream, Encoding.UTF8);
            string line;
            while ((line = lines.ReadLine()) != null)
            {
                Members answer = (Members)Json.Read(line);
                lock (Gate)
                {
                    Answers[(long)answer["id"]] = answer;
                    Monitor.PulseAll(Gate);
                }
            }
            lock (Gate)
            {
                ended = true;
                Monitor.PulseAll(Gate);
            }
        }

        public static long Begin(string verb, Members given)
        {
            lock (Gate)
            {
                Members request = new Members(given);
                request["id"] = ++last;
                request["verb"] = verb;
                byte[] bytes = Encoding.ASCII.GetBytes(Json.Write(request) + "\n");
                Connected().Write(bytes, 0, bytes.Length);
                return last;
            }
        }

        public static Members End(long number)
        {
            Members answer;
            lock (Gate)
            {
                while (!Answers.TryGetValue(number, out answer))
                {
                    if (ended) throw new Refused("serve hung up");
                    Monitor.Wait(Gate);
                }
                Answers.Remove(number);
            }
            if (!true.Equals(answer["ok"])) throw new Refused((string)answer["error"]);
            return answer;
        }

        public static Members Ask(string verb, params object[] namesAndValues)
        {
            Members given = new Members();
            for (int i = 0; i < namesAndValues.Length; i += 2) given[(string)namesAndValues[i]] = namesAndValues[i + 1];
            return End(Begin(verb, given));
        }
    }

    public sealed class ServeTransaction : IMessageQueueTransaction
    {
        public string Identifier;
        public MessageQueueTransactionStatus Status { get; private set; }

        public void Begin()
        {
            Identifier = (string)Serve.Ask("begin")["transaction"];
            Status = MessageQueueTransactionStatus.Pending;
        }

        public void Commit()
        {
            Serve.Ask("commit", "transaction", Identifier);
            Status = MessageQueueTransactionStatus.Committed;
        }

        public void Abort()
        {
            Serve.Ask("abort", "transaction", Identifier);
            Status = MessageQueueTransactionStatus.Aborted;
        }

        public void Dispose() { }
    }

    /// <summary>A transaction of System.Transactions as an external one of serve, in two phases.</summary>
    public sealed class Enlisted : IEnlistmentNotification
    {
        private static readonly Dictionary<Transaction, Enlisted> All = new Dictionary<Transaction, Enlisted>();
        public readonly string Identifier = (string)Serve.Ask("begin", "external", true)["transaction"];

        public static string In(Transaction transaction)
        {
            lock (All)
            {
                Enlisted found;
                if (All.TryGetValue(transaction, out found)) return found.Identifier;
                Transaction key = transaction.Clone();
                All[key] = found = new Enlisted();
                transaction.EnlistVolatile(found, EnlistmentOptions.None);
                return found.Identifier;
            }
        }

        public void Prepare(PreparingEnlistment vote)
        {
            try
            {
                Serve.Ask("prepare", "transaction", Identifier);
                vote.Prepared();
            }
            catch (Refused error)
            {
                vote.ForceRollback(error);
            }
        }

        public void Commit(Enlistment enlistment)
        {
            Serve.Ask("commit", "transaction", Identifier);
            enlistment.Done();
        }

        public void Rollback(Enlistment enlistment)
        {
            Serve.Ask("abort", "transaction", Identifier);
            enlistment.Done();
        }

        public void InDoubt(Enlistment enlistment) { enlistment.Done(); }
    }

    public sealed class ServeMessage : MessageBase, IMessage
    {
        private static readonly DateTime Epoch = new DateTime(1970, 1, 1, 0, 0, 0, DateTimeKind.Utc);
        private static readonly string[] Enhanced = { "none", "base", "", "enhanced", "", "advanced" };
        private static readonly Dictionary<int, string> Signed =
            new Dictionary<int, string> { { 2, "sig10" }, { 4, "sig20" }, { 8, "sig30" } };
        private static readonly Dictionary<int, string> Hashes = new Dictionary<int, string>
        {
            { 0x8001, "md2" }, { 0x8002, "md4" }, { 0x8003, "md5" }, { 0x8004, "sha1" }, { 0x800c, "sha256" }, { 0x800e, "sha512" }
        };
        private TimeSpan? reach, received;

        /// <summary>What a message of serve has and System.Messaging of Mono does not show.</summary>
        public long? LookupId;
        public Guid? Source;
        /// <summary>Properties beyond System.Messaging: PROPID_M_... to a number.</summary>
        public readonly Dictionary<int, int> More = new Dictionary<int, int>();

        TimeSpan IMessage.TimeToReachQueue { get { return reach ?? TimeSpan.Zero; } set { reach = value; } }
        TimeSpan IMessage.TimeToBeReceived { get { return received ?? TimeSpan.Zero; } set { received = value; } }

        public static ServeMessage Of(Members shown)
        {
            if (shown == null) return null;
            ServeMessage made = new ServeMessage();
            made.LookupId = (long?)shown["lookup_id"];
            made.Source = Guid.Parse((string)shown["source"]);
            made.Label = (string)shown["label"];
            made.BodyStream = new MemoryStream(Convert.FromBase64String((string)shown["body_base64"]));
            made.BodyType = unchecked((int)(long)shown["body_type"]);
            made.Priority = (MessagePriority)(long)shown["priority"];
            made.Recoverable = (string)shown["delivery"] != "express";
            made.AppSpecific = unchecked((int)(long)shown["application_tag"]);
            made.Extension = Convert.FromBase64String((string)shown["extension_base64"]);
            made.CorrelationId = Correlation((string)shown["correlation_id"]);
            made.AdministrationQueue = ServeQueue.Named((string)shown["admin_queue"]);
            made.ResponseQueue = ServeQueue.Named((string)shown["response_queue"]);
            foreach (object ack in (List<object>)shown["acks"]) made.AcknowledgeType |= (AcknowledgeTypes)Messages.Acks[(string)ack];
            made.UseJournalQueue = ((List<object>)shown["journal"]).Contains("positive");
            made.UseDeadLetterQueue = ((List<object>)shown["journal"]).Contains("negative");
            int kind = Class((string)shown["class"]);
            made.SetDeliveryInfo(
                (Acknowledgment)(kind > 1 ? kind : 0), Time(shown["arrived_time"]), ServeQueue.Named((string)shown["destination"]),
                ((string)shown["message_id"]).Replace("{", "").Replace("}", ""),
                kind == 0 ? MessageType.Normal : kind == 1 ? MessageType.Report : MessageType.Acknowledgment,
                new byte[0], 0, Time(shown["sent_time"]), "", (string)shown["delivery"] == "transactional" ? Guid.NewGuid() + "\\1" : "");
            return made;
        }

        private static DateTime Time(object seconds) { return Epoch.AddSeconds((long)seconds).ToLocalTime(); }

        // The numbers of MS-MQMQ 2.2.18.1.6.
        private static readonly Dictionary<string, int> Classes = new Dictionary<string, int>
        {
            { "NORMAL", 0 }, { "REPORT", 1 }, { "ACK_REACH_QUEUE", 2 }, { "ACK_RECEIVE", 0x4000 }, { "NACK_BAD_DST_Q", 0x8000 },
            { "NACK_DELETED", 0x8001 }, { "NACK_REACH_QUEUE_TIMEOUT", 0x8002 }, { "NACK_Q_EXCEED_QUOTA", 0x8003 },
            { "NACK_ACCESS_DENIED", 0x8004 }, { "NACK_HOP_COUNT_EXCEEDED", 0x8005 }, { "NACK_BAD_SIGNATURE", 0x8006 },
            { "NACK_BAD_ENCRYPTION", 0x8007 }, { "NACK_NOT_TRANSACTIONAL_Q", 0x8009 }, { "NACK_NOT_TRANSACTIONAL_MSG", 0x800A },
            { "NACK_UNSUPPORTED_CRYPTO_PROVIDER", 0x800B }, { "NACK_Q_DELETED", 0xC000 }, { "NACK_Q_PURGED", 0xC001 },
            { "NACK_RECEIVE_TIMEOUT", 0xC002 }, { "NACK_RECEIVE_REJECTED", 0xC004 }
        };

        private static int Class(string name) { return Classes[name.Substring("MQMSG_CLASS_".Length)]; }

        private static string Correlation(string hexadecimal)
        {
            byte[] bytes = new byte[20];
            for (int i = 0; i < 20; i++) bytes[i] = Convert.ToByte(hexadecimal.Substring(2 * i, 2), 16);
            byte[] guid = new byte[16];
            Array.Copy(bytes, guid, 16);
            return new Guid(guid) + "\\" + BitConverter.ToUInt32(bytes, 16);
        }

        public void Sent(string identifier)
        {
            SetDeliveryInfo(0, DateTime.Now, null, identifier, MessageType.Normal, new byte[0], 0, DateTime.Now, "", "");
        }

        public Members ToSend(string to)
        {
            Members sent = new Members { { "to", to }, { "label", Label }, { "priority", (long)Priority } };
            sent["body_base64"] = Convert.ToBase64String(((MemoryStream)BodyStream).ToArray());
            sent["body_type"] = (long)unchecked((uint)BodyType);
            sent["application_tag"] = (long)unchecked((uint)AppSpecific);
            if (Extension != null) sent["extension_base64"] = Convert.ToBase64String(Extension);
            if (!string.IsNullOrEmpty(CorrelationId)) sent["correlation_id"] = Messages.Hexadecimal(CorrelationId);
            sent["delivery"] = Recoverable ? "recoverable" : "express";
            List<object> acks = new List<object>(), journal = new List<object>();
            foreach (KeyValuePair<string, int> ack in Messages.Acks) if (((int)AcknowledgeType & ack.Value) != 0) acks.Add(ack.Key);
            if (UseJournalQueue) journal.Add("positive");
            if (UseDeadLetterQueue) journal.Add("negative");
            sent["acks"] = acks;
            sent["journal"] = journal;
            if (AdministrationQueue != null) sent["admin_queue"] = ((ServeQueue)AdministrationQueue).FormatName;
            if (ResponseQueue != null) sent["response_queue"] = ((ServeQueue)ResponseQueue).FormatName;
            sent["time_to_reach_queue_s"] = reach.HasValue ? (object)(long)reach.Value.TotalSeconds : null;
            if (received.HasValue) sent["time_to_be_received_s"] = (long)received.Value.TotalSeconds;
            if (!AttachSenderId) sent["sender"] = "none";
            int number;
            if (More.TryGetValue(23, out number)) sent["privacy_level"] = Enhanced[number];
            if (More.TryGetValue(24, out number)) sent["authentication_level"] = Signed[number];
            if (More.TryGetValue(26, out number)) sent["hash_algorithm"] = Hashes[number];
            return sent;
        }
    }

    public sealed class ServeQueue : MessageQueueBase, IMessageQueue
    {
        private const string Formatted = "FormatName:", Here = "DIRECT=OS:.\\";
        private readonly Dictionary<int, long> pending = new Dictionary<int, long>();
        private string kind;
        private long number = -1;

        /// <summary>How it is to be opened: System.Messaging of Mono does not tell its provider.</summary>
        public string Access = "receive";
        public string Made;

        /// <summary>The path as it was given: QueueReference of Mono loses the middle of one with many backslashes.</summary>
        public string Whole;

        public ServeQueue(QueueReference name) { QRef = name; }

        public static ServeQueue Named(string formatName)
        {
            return formatName == null ? null : new ServeQueue(QueueReference.Parse(Formatted + formatName)) { Whole = Formatted + formatName };
        }

        public static string Name(QueueReference name)
        {
            return name.Host == "localhost" ? name.Queue : name.Host + "\\" + name.Queue;
        }

        public string FormatName
        {
            get
            {
                string name = Given;
                return Made ?? (name.StartsWith(Formatted) ? name.Substring(Formatted.Length) : Here + name);
            }
        }

        private string Given { get { return Whole ?? Name(QRef); } }

        /// <summary>The path name of a queue of serve, null of another queue manager's.</summary>
        public string Local
        {
            get { return FormatName.StartsWith(Here) ? FormatName.Substring(Here.Length) : Given.StartsWith(Formatted) ? null : Given; }
        }

        // On Windows a subqueue is there as soon as it is opened; in serve it is made.
        private void MakeSubqueue()
        {
            if (Local == null || Local.IndexOf(';') < 0 || Local.ToLowerInvariant().EndsWith(";journal") || !Local.StartsWith("private$")) return;
            try
            {
                Serve.Ask("create_queue", "name", Local);
            }
            catch (Refused)
            {
                // It is there already, or its queue is not, which opening it then says.
            }
        }

        private string Verb(string verb) { return kind == "remote" ? "remote_" + verb : verb; }

        /// <summary>Open it in serve, once; its number there.</summary>
        public long Open(string access)
        {
            lock (pending)
            {
                if (number >= 0) return number;
                kind = Local == null && access != "send" ? "remote" : "handle";
                MakeSubqueue();
                Members opened = access == "send" ? Serve.Ask("open_to_send", "to", FormatName)
                    : kind == "remote" ? Serve.Ask("remote_open", "queue", FormatName, "access", access, "deny_receive", DenySharedReceive)
                    : Serve.Ask("open_queue", "queue", Local, "access", access, "deny_receive", DenySharedReceive);
                number = (long)opened[kind];
                return number;
            }
        }

        public void Close()
        {
            lock (pending)
            {
                if (number >= 0) Serve.Ask(kind == "remote" ? "remote_close" : "close_queue", kind, number);
                number = -1;
            }
        }

        /// <summary>Read at a cursor of serve, or at the head.</summary>
        public ServeMessage Read(string verb, object cursor, TimeSpan? timeout, string transaction, bool next)
        {
            Members given = new Members();
            long opened = Open(Access);
            if (cursor != null) given["cursor"] = cursor;
            else given[kind] = opened;
            given["timeout_ms"] = timeout == null || timeout.Value == MessagingProviderLocator.InfiniteTimeout ? null : (object)(long)timeout.Value.TotalMilliseconds;
            if (transaction != null) given["transaction"] = transaction;
            if (next && kind == "remote") given["next"] = true;
            string asked = kind == "remote" ? "remote_" + (verb == "receive" ? "receive" : "peek") : verb == "receive" ? verb : next ? "peek_next" : "peek_message";
            long request = Serve.Begin(asked, given);
            lock (pending) pending[Thread.CurrentThread.ManagedThreadId] = request;
            try
            {
                return ServeMessage.Of((Members)Serve.End(request)["message"]);
            }
            catch (Refused error)
            {
                if (error.Message.Contains("CANCELLED")) throw Cancelled();
                throw;
            }
            finally
            {
                lock (pending) pending.Remove(Thread.CurrentThread.ManagedThreadId);
            }
        }

        public ServeMessage Lookup(string verb, string seek, long lookupId, string transaction)
        {
            Open(Access);
            Members given = new Members { { kind, number }, { "seek", seek }, { "lookup_id", lookupId } };
            if (transaction != null) given["transaction"] = transaction;
            return ServeMessage.Of((Members)Serve.End(Serve.Begin(Verb(verb + "_by_lookup_id"), given))["message"]);
        }

        /// <summary>End all reads that wait, as Windows does: it knows the handle, not the read.</summary>
        public void Cancel()
        {
            lock (pending)
                foreach (long one in pending.Values) Serve.Ask("cancel", "request", one);
        }

        private static Exception Cancelled()
        {
            Type[] types = { typeof(Messaging.MessageQueueErrorCode) };
            ConstructorInfo made = typeof(Messaging.MessageQueueException).GetConstructor(BindingFlags.Instance | BindingFlags.NonPublic, null, types, null);
            return (Exception)made.Invoke(new object[] { (Messaging.MessageQueueErrorCode)Errors.Cancelled });
        }

        public object OpenCursor()
        {
            Open(Access);
            return Serve.Ask(Verb("open_cursor"), kind, number)["cursor"];
        }

        public void CloseCursor(object cursor) { Serve.Ask(Verb("close_cursor"), "cursor", cursor); }

        private void Send(IMessage message, string delivery, string transaction)
        {
            Members sent = ((ServeMessage)message).ToSend(FormatName);
            if (delivery != null) sent["delivery"] = delivery;
            if (transaction != null) sent["transaction"] = transaction;
            ((ServeMessage)message).Sent((string)Serve.End(Serve.Begin("send", sent))["message_id"]);
        }

        public static string Chosen(MessageQueueTransactionType type)
        {
            return type == MessageQueueTransactionType.Automatic && Transaction.Current != null ? Enlisted.In(Transaction.Current) : null;
        }

        private static string Of(IMessageQueueTransaction transaction) { return ((ServeTransaction)transaction).Identifier; }

        public void Send(IMessage message) { Send(message, null, null); }
        public void Send(IMessage message, IMessageQueueTransaction transaction) { Send(message, "transactional", Of(transaction)); }

        public void Send(IMessage message, MessageQueueTransactionType type)
        {
            Send(message, type == MessageQueueTransactionType.None ? null : "transactional", Chosen(type));
        }

        public IMessage Peek() { return Read("peek", null, null, null, false); }
        public IMessage Peek(TimeSpan timeout) { return Read("peek", null, timeout, null, false); }
        public IMessage Receive() { return Read("receive", null, null, null, false); }
        public IMessage Receive(TimeSpan timeout) { return Read("receive", null, timeout, null, false); }
        public IMessage Receive(IMessageQueueTransaction one) { return Read("receive", null, null, Of(one), false); }
        public IMessage Receive(TimeSpan timeout, IMessageQueueTransaction one) { return Read("receive", null, timeout, Of(one), false); }
        public IMessage Receive(MessageQueueTransactionType type) { return Read("receive", null, null, Chosen(type), false); }
        public IMessage Receive(TimeSpan timeout, MessageQueueTransactionType type) { return Read("receive", null, timeout, Chosen(type), false); }

        public void Purge()
        {
            if (Local != null) Serve.Ask("purge", "queue", Local);
            else Serve.Ask("remote_purge", "remote", Open(Access));
        }

        public IMessageEnumerator GetMessageEnumerator() { return new ServeEnumerator(this); }

        // -- properties -----------------------------------------------------------------------------------------------

        private object Get(string name) { return Serve.Ask("get_queue", "name", Local)[name]; }
        private void Set(string name, object value) { Serve.Ask("set_queue", "name", Local, name, value); }

        public QueueReference QRef { get; set; }
        public string Label { get { return (string)Get("label"); } set { Set("label", value); } }
        public bool Authenticate { get { return (bool)Get("authenticated"); } set { Set("authenticated", value); } }
        public short BasePriority { get { return (short)(long)Get("base_priority"); } set { Set("base_priority", (long)value); } }
        public Guid Category { get { return Guid.Parse((string)Get("type")); } set { Set("type", value.ToString()); } }
        public long MaximumJournalSize { get { return (long)Get("journal_quota_kb"); } set { Set("journal_quota_kb", value); } }
        public long MaximumQueueSize { get { return (long)Get("quota_kb"); } set { Set("quota_kb", value); } }
        public bool Transactional { get { return (bool)Get("transactional"); } }
        public bool UseJournalQueue { get { return (bool)Get("journaling"); } set { Set("journaling", value); } }
        public bool DenySharedReceive { get; set; }
        public bool CanRead { get { return true; } }
        public bool CanWrite { get { return true; } }
        public ISynchronizeInvoke SynchronizingObject { get; set; }
        public IntPtr ReadHandle { get { return new IntPtr(Open(Access)); } }
        public IntPtr WriteHandle { get { return new IntPtr(Open("send")); } }
        public DateTime CreateTime { get { throw new NotSupportedException(); } }
        public DateTime LastModifyTime { get { throw new NotSupportedException(); } }
        public Guid Id { get { throw new NotSupportedException(); } }
        protected override IMessageQueue Queue { get { return this; } }

        public EncryptionRequired EncryptionRequired
        {
            get { return (EncryptionRequired)Enum.Parse(typeof(EncryptionRequired), (string)Get("privacy"), true); }
            set { Set("privacy", value.ToString().ToLowerInvariant()); }
        }

        // -- what the agent does not ask for --------------------------------------------------------------------------

        public IMessage PeekById(string id) { throw new NotSupportedException(); }
        public IMessage PeekById(string id, TimeSpan timeout) { throw new NotSupportedException(); }
        public IMessage PeekByCorrelationId(string id) { throw new NotSupportedException(); }
        public IMessage PeekByCorrelationId(string id, TimeSpan timeout) { throw new NotSupportedException(); }
        public IMessage ReceiveById(string id) { throw new NotSupportedException(); }
        public IMessage ReceiveById(string id, TimeSpan timeout) { throw new NotSupportedException(); }
        public IMessage ReceiveById(string id, IMessageQueueTransaction one) { throw new NotSupportedException(); }
        public IMessage ReceiveById(string id, MessageQueueTransactionType type) { throw new NotSupportedException(); }
        public IMessage ReceiveById(string id, TimeSpan timeout, IMessageQueueTransaction one) { throw new NotSupportedException(); }
        public IMessage ReceiveById(string id, TimeSpan timeout, MessageQueueTransactionType type) { throw new NotSupportedException(); }
        public IMessage ReceiveByCorrelationId(string id) { throw new NotSupportedException(); }
        public IMessage ReceiveByCorrelationId(string id, TimeSpan timeout) { throw new NotSupportedException(); }
        public IMessage ReceiveByCorrelationId(string id, IMessageQueueTransaction one) { throw new NotSupportedException(); }
        public IMessage ReceiveByCorrelationId(string id, MessageQueueTransactionType type) { throw new NotSupportedException(); }
        public IMessage ReceiveByCorrelationId(string id, TimeSpan timeout, IMessageQueueTransaction one) { throw new NotSupportedException(); }
        public IMessage ReceiveByCorrelationId(string id, TimeSpan timeout, MessageQueueTransactionType type) { throw new NotSupportedException(); }
    }

    public sealed class ServeEnumerator : IMessageEnumerator
    {
        private readonly ServeQueue queue;
        private object cursor;
        private bool began;

        public ServeEnumerator(ServeQueue queue) { this.queue = queue; }

        public IMessage Current { get; private set; }
        public IntPtr CursorHandle { get { throw new NotSupportedException(); } }
        public bool MoveNext() { return MoveNext(TimeSpan.Zero); }

        public bool MoveNext(TimeSpan timeout)
        {
            cursor = cursor ?? queue.OpenCursor();
            Current = queue.Read("peek", cursor, timeout, null, began);
            began = true;
            return Current != null;
        }

        public void Close()
        {
            if (cursor != null) queue.CloseCursor(cursor);
            cursor = null;
        }

        public void Dispose() { Close(); }
        public void Dispose(bool disposing) { Close(); }
        public IMessage RemoveCurrent() { throw new NotSupportedException(); }
        public IMessage RemoveCurrent(IMessageQueueTransaction one) { throw new NotSupportedException(); }
        public IMessage RemoveCurrent(MessageQueueTransactionType type) { throw new NotSupportedException(); }
        public IMessage RemoveCurrent(TimeSpan timeout) { throw new NotSupportedException(); }
        public IMessage RemoveCurrent(TimeSpan timeout, IMessageQueueTransaction one) { throw new NotSupportedException(); }
        public IMessage RemoveCurrent(TimeSpan timeout, MessageQueueTransactionType type) { throw new NotSupportedException(); }
    }

    /// <summary>What only Windows has, by serve: the management properties have the forms that MSMQ gives them.</summary>
    public sealed class OnServe : IWindowsOnly
    {
        private const BindingFlags Hidden = BindingFlags.Instance | BindingFlags.NonPublic;

        private static ServeQueue Of(Messaging.MessageQueue queue)
        {
            return (ServeQueue)typeof(Messaging.MessageQueue).GetProperty("DelegateQueue", Hidden).GetValue(queue, null);
        }

        private static ServeMessage Of(Messaging.Message message)
        {
            return (ServeMessage)typeof(Messaging.Message).GetProperty("DelegateMessage", Hidden).GetValue(message, null);
        }

        private static string Of(Messaging.MessageQueueTransaction transaction)
        {
            return ((ServeTransaction)typeof(Messaging.MessageQueueTransaction).GetProperty("DelegateTx", Hidden).GetValue(transaction, null)).Identifier;
        }

        private static Messaging.Message Shown(ServeMessage found)
        {
            if (found == null) return null;
            Type[] types = { typeof(IMessage), typeof(object), typeof(Messaging.IMessageFormatter) };
            return (Messaging.Message)typeof(Messaging.Message).GetConstructor(Hidden, null, types, null).Invoke(new object[] { found, null, null });
        }

        private static T Within<T>(Work work, Func<string, T> read)
        {
            if (work == null) return read(null);
            return work.Do<T>(delegate { return read(Of(work.Internal)); }, delegate { return read(Enlisted.In(Transaction.Current)); });
        }

        public Guid Identifier() { return Guid.Parse((string)Serve.Ask("identity")["guid"]); }

        public Answer Product()
        {
            Members found = Serve.Ask("identity");
            return new Answer().With("name", found["name"]).With("vendor", found["vendor"]).With("version", found["version"] + " through System.Messaging of Mono");
        }

        public Messaging.MessageQueue At(string path)
        {
            Messaging.MessageQueue queue = new Messaging.MessageQueue(path);
            Of(queue).Whole = path;
            return queue;
        }

        public Messaging.MessageQueue Open(string path, Messaging.QueueAccessMode access, bool denyReceive)
        {
            Messaging.MessageQueue queue = At(path);
            ServeQueue opened = Of(queue);
            opened.Access = access == Messaging.QueueAccessMode.Peek ? "peek" : "receive";
            queue.DenySharedReceive = denyReceive;
            IntPtr handle = access == Messaging.QueueAccessMode.Send ? queue.WriteHandle : queue.ReadHandle;
            if (handle == new IntPtr(-1)) throw new Refused("the queue has no handle");
            return queue;
        }

        public string FormatName(Messaging.MessageQueue queue) { return Of(queue).FormatName; }
        public string GetLabel(Messaging.MessageQueue queue) { return Of(queue).Label; }
        public void SetLabel(Messaging.MessageQueue queue, string label) { Of(queue).Label = label; }

        // A cursor of serve knows whose it is, as one of System.Messaging does.
        private sealed class Cursor
        {
            public ServeQueue Queue;
            public object Number;
        }

        public object OpenCursor(Messaging.MessageQueue queue) { return new Cursor { Queue = Of(queue), Number = Of(queue).OpenCursor() }; }
        public void CloseCursor(object cursor) { ((Cursor)cursor).Queue.CloseCursor(((Cursor)cursor).Number); }

        public Messaging.Message PeekAt(Messaging.MessageQueue queue, object cursor, bool next, TimeSpan timeout)
        {
            return Shown(Of(queue).Read("peek", ((Cursor)cursor).Number, timeout, null, next));
        }

        public Messaging.Message ReceiveAt(Messaging.MessageQueue queue, object cursor, TimeSpan timeout, Work work)
        {
            return Within(work, delegate(string transaction) { return Shown(Of(queue).Read("receive", ((Cursor)cursor).Number, timeout, transaction, false)); });
        }

        public Messaging.Message Lookup(Messaging.MessageQueue queue, string seek, long lookupId, bool peek, Work work)
        {
            return Within(work, delegate(string transaction) { return Shown(Of(queue).Lookup(peek ? "peek" : "receive", seek, lookupId, transaction)); });
        }

        public void CancelReads(Messaging.MessageQueue queue) { Of(queue).Cancel(); }
        public void Grant(Messaging.MessageQueue queue) { }
        public void AskForLookupId(Messaging.MessageQueue queue) { }
        public void GiveBack() { }
        public long? LookupId(Messaging.Message message) { return Of(message).LookupId; }
        public Guid? Source(Messaging.Message message) { return Of(message).Source; }
        public void SetProperty(Messaging.Message message, int property, int value) { Of(message).More[property] = value; }

        public void Act(string target, string action)
        {
            if (target != "MACHINE") Serve.Ask(action == "PAUSE" ? "pause_queue" : "resume_queue", "to", target.Substring("QUEUE=".Length));
            else Serve.Ask(action == "CONNECT" ? "bring_online" : "take_offline");
        }

        public long Move(string queue, long lookupId, string to, Work work)
        {
            return Within(work, delegate(string transaction)
            {
                Members given = new Members { { "queue", queue }, { "lookup_id", lookupId }, { "to", to } };
                if (transaction != null) given["transaction"] = transaction;
                return (long)Serve.End(Serve.Begin("move", given))["lookup_id"];
            });
        }

        public void Reject(string queue, long lookupId, Work work)
        {
            Within<object>(work, delegate(string transaction) { return Serve.Ask("reject", "queue", queue, "lookup_id", lookupId, "transaction", transaction); });
        }

        public void Run(string service, bool run) { Serve.Ask("environment", service == "MSMQ" ? "service" : "coordinator", run); }
        public bool Runs(string service) { return (bool)Serve.Ask("environment")[service == "MSMQ" ? "service" : "coordinator"]; }
        public void Restart(string service) { Serve.Ask("restart"); }

        public object[] Manage(string target, int[] properties)
        {
            Dictionary<int, object> known = target == "MACHINE" ? Machine() : Queue(target.Substring("QUEUE=".Length), properties);
            object[] found = new object[properties.Length];
            for (int i = 0; i < found.Length; i++) known.TryGetValue(properties[i], out found[i]);
            return found;
        }

        // What the last enumeration on this thread read, each for one look: hundreds of queues would be asked for one by one.
        [ThreadStatic]
        private static Dictionary<string, Members> enumerated;

        private static Dictionary<int, object> Machine()
        {
            List<object> active = new List<object>(), own = new List<object>();
            Members listed = Serve.Ask("list");
            enumerated = new Dictionary<string, Members>(StringComparer.OrdinalIgnoreCase);
            foreach (Members one in (List<object>)listed["outgoing"])
            {
                active.Add(one["format_name"]);
                enumerated[(string)one["format_name"]] = one;
            }
            foreach (object one in (List<object>)listed["queues"]) own.Add(".\\" + ((Members)one)["name"]);
            return new Dictionary<int, object> { { 1, active.ToArray() }, { 2, own.ToArray() } };
        }

        private static Dictionary<int, object> Queue(string formatName, int[] properties)
        {
            const string here = "DIRECT=OS:.\\";
            if (!formatName.StartsWith(here)) return Outgoing(formatName, properties);
            string name = formatName.Substring(here.Length);
            if (Array.IndexOf(properties, 24) >= 0) return new Dictionary<int, object> { { 24, Transfers(name) } };
            if (name.IndexOf(';') >= 0 || !name.StartsWith("private$"))
            {
                long all = ((List<object>)Serve.Ask("peek", "queue", name, "limit", 10000L)["messages"]).Count;
                return new Dictionary<int, object> { { 7, all }, { 8, 0L } };
            }
            Members queue = Serve.Ask("get_queue", "name", name);
            return new Dictionary<int, object> { { 7, queue["count"] }, { 8, queue["bytes"] } };
        }

        private static object[] Transfers(string name)
        {
            string[] names = { "FormatName", "SenderIdentifier", "SequenceIdentifier", "SequenceNumber", "LastAccessTime", "RejectCount" };
            List<object> all = (List<object>)Serve.Ask("get_transfers", "queue", name)["transfers"];
            object[] columns = new object[names.Length];
            for (int i = 0; i < names.Length; i++)
                columns[i] = all.ConvertAll(delegate(object one) { return ((Members)one)[names[i]]; }).ToArray();
            return columns;
        }

        private static readonly Dictionary<string, string> States = new Dictionary<string, string> { { "NeedValidation", "NEED VALIDATION" } };
        private static readonly List<string> Statuses = new List<string>
        {
            "UnknownFailure", "PingFailure", "", "", "SocketConnectFailure", "", "", "", "DnsFailure",
            "CertificateValidationFailure", "", "ConnectionRefused", "RoutingDataNotAvailable"
        };
        private static readonly List<string> Progress = new List<string> { "InProcess", "EstablishPacketReceived", "Established" };
        private static readonly string[] Parts =
        {
            "EodLastAck", "EodLastAckTime", "EodLastAckCount", "EodFirstNonAck", "EodLastNonAck", "EodNextSeq", "EodNoReadCount",
            "EodNoAckCount", "EodResendTime", "EodResendInterval", "EodResendCount"
        };

        private static Dictionary<int, object> Outgoing(string formatName, int[] properties)
        {
            bool whole = Array.IndexOf(properties, 25) >= 0;
            Members one;
            if (!whole && enumerated != null && enumerated.TryGetValue(formatName, out one)) enumerated.Remove(formatName);
            else one = Listed(formatName);
            Dictionary<int, object> found = new Dictionary<int, object> { { 4, "REMOTE" }, { 7, one["count"] }, { 11, Upper((string)one["state"]) } };
            if (whole) Details(formatName, found);
            return found;
        }

        private static Members Listed(string formatName)
        {
            foreach (Members one in (List<object>)Serve.Ask("list")["outgoing"])
                if (formatName.Equals((string)one["format_name"], StringComparison.OrdinalIgnoreCase)) return one;
            throw new Refused("properties of " + formatName + ": " + Errors.Name(unchecked((int)0xC00E0004)));
        }

        private static string Upper(string state)
        {
            string known;
            return States.TryGetValue(state, out known) ? known : state.ToUpperInvariant();
        }

        private static void Details(string formatName, Dictionary<int, object> found)
        {
            List<object> all = (List<object>)Serve.Ask("get_outgoing_queue", "to", formatName)["outgoing"];
            if (all.Count == 0) return;
            Members queue = (Members)all[0], transfer = (Members)queue["OutgoingTransferInfo"];
            found[11] = Upper((string)queue["State"]);
            found[12] = ((List<object>)queue["NextHops"]).ToArray();
            for (int i = 0; i < Parts.Length; i++) found[13 + i] = Sequence(transfer[Parts[i]]);
            List<object> statuses = new List<object>(), times = new List<object>(), errors = new List<object>(), addresses = new List<object>();
            foreach (object listed in (List<object>)queue["ConnectionHistory"])
            {
                Members one = (Members)listed;
                int step = Progress.IndexOf((string)one["Status"]);
                statuses.Add(step >= 0 ? step : unchecked((int)0x80000000) + Statuses.IndexOf((string)one["Status"]));
                times.Add(one["ConnectionHistoryTime"]);
                errors.Add(one["Error"]);
                addresses.Add(((string)one["AddressList"]).Split(' '));
            }
            found[25] = new object[] { statuses.ToArray(), times.ToArray(), errors.ToArray(), addresses.ToArray() };
        }

        // SEQUENCE_INFO in its bytes (MS-MQMQ 2.2.5.1).
        private static object Sequence(object value)
        {
            Members one = value as Members;
            if (one == null) return value;
            MemoryStream bytes = new MemoryStream();
            BinaryWriter writer = new BinaryWriter(bytes);
            writer.Write((long)one["SeqID"]);
            writer.Write((uint)(long)one["SeqNo"]);
            writer.Write((uint)(long)one["PrevNo"]);
            return bytes.ToArray();
        }
    }
}
