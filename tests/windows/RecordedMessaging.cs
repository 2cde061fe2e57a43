// System.Messaging as Windows has it, in the members that MsmqAgent.cs uses: it keeps messages in memory and records each
// call. Signatures, the private field `properties` and what is thrown where are those of microsoft/referencesource
// (ec9fa9ae), System.Messaging: MessageQueue.cs, Message.cs, MessagePropertyFilter.cs, MessageQueueTransaction.cs.

using System;
using System.Collections;
using System.Collections.Generic;
using System.ComponentModel;
using System.IO;
using System.Threading;
using System.Transactions;

namespace System.Messaging
{
    public static class Recorded
    {
        private static readonly object gate = new object();

        public static void Call(string said)
        {
            lock (gate) File.AppendAllText(Environment.GetEnvironmentVariable("MQ_RECORD"), said + "\n");
        }

        public static bool Has(string said)
        {
            lock (gate) return File.ReadAllText(Environment.GetEnvironmentVariable("MQ_RECORD")).Contains(said);
        }
    }

    [Flags]
    public enum AcknowledgeTypes { None = 0, PositiveArrival = 1, PositiveReceive = 2, NotAcknowledgeReachQueue = 4, NegativeReceive = 8 }
    public enum Acknowledgment { None = 0 }
    public enum EncryptionRequired { None = 0, Optional = 1, Body = 2 }
    public enum MessageLookupAction { Current = 0, Next = 1, Previous = 2, First = 3, Last = 4 }
    public enum MessagePriority { Lowest = 0, Normal = 3 }
    public enum MessageQueueErrorCode { IOTimeout = unchecked((int)0xC00E001B) }
    [Flags]
    public enum MessageQueueAccessRights { ReceiveMessage = 1, PeekMessage = 2, WriteMessage = 4, GetQueueProperties = 0x20 }
    public enum MessageQueueTransactionType { None = 0, Automatic = 1, Single = 3 }
    public enum MessageType { Acknowledgment = 1, Normal = 2, Report = 3 }
    public enum PeekAction { Current = 0, Next = unchecked((int)0x80000001) }
    public enum QueueAccessMode { Receive = 1, Send = 2, Peek = 32 }

    public class MessageQueueException : Exception
    {
        public MessageQueueException(int error) { MessageQueueErrorCode = (MessageQueueErrorCode)error; }
        public MessageQueueErrorCode MessageQueueErrorCode { get; private set; }
    }

    public sealed class Cursor
    {
        public void Close() { Recorded.Call("Cursor.Close"); }
    }

    // The transaction of MSMQ, an object of COM that implements ITransaction; IDtcTransaction is that interface, too.
    internal sealed class Inner : IDtcTransaction
    {
        public void Abort(IntPtr reason, int retaining, int async) { }
        public void Commit(int retaining, int type, int reserved) { }
        public void GetTransactionInfo(IntPtr information) { }
    }

    public class MessageQueueTransaction
    {
        private readonly Inner inner = new Inner();
        internal object InnerTransaction { get { return inner; } }
        public void Begin() { Recorded.Call("MessageQueueTransaction.Begin"); }
        public void Commit() { Recorded.Call("MessageQueueTransaction.Commit"); }
        public void Abort() { Recorded.Call("MessageQueueTransaction.Abort"); }
    }

    public class MessagePropertyFilter
    {
        public bool AcknowledgeType { get; set; }
        public bool Acknowledgment { get; set; }
        public bool AdministrationQueue { get; set; }
        public bool AppSpecific { get; set; }
        public bool ArrivedTime { get; set; }
        public bool Body { get; set; }
        public bool CorrelationId { get; set; }
        public bool DestinationQueue { get; set; }
        public bool Extension { get; set; }
        public bool Id { get; set; }
        public bool Label { get; set; }
        public bool LookupId { get; set; }
        public bool MessageType { get; set; }
        public bool Priority { get; set; }
        public bool Recoverable { get; set; }
        public bool ResponseQueue { get; set; }
        public bool SentTime { get; set; }
        public bool SourceMachine { get; set; }
        public bool TransactionId { get; set; }
        public bool UseDeadLetterQueue { get; set; }
        public bool UseJournalQueue { get; set; }
        public void ClearAll() { LookupId = false; }
    }

    internal sealed class MessagePropertyVariants
    {
        private readonly Dictionary<int, object> found = new Dictionary<int, object>();
        public byte[] GetGuid(int property) { object value; return found.TryGetValue(property, out value) ? value as byte[] : null; }
        public void SetGuid(int property, byte[] value) { found[property] = value; }
        public void SetUI4(int property, int value) { Recorded.Call("Message.properties.SetUI4 " + property + " " + value); }
    }

    public class Message : Component
    {
        private readonly MessagePropertyVariants properties = new MessagePropertyVariants();
        internal MessagePropertyFilter filter;
        internal long number;

        public Message()
        {
            Id = "00000000-0000-0000-0000-000000000001\\1";
            SentTime = ArrivedTime = new DateTime(2026, 1, 1, 0, 0, 0, DateTimeKind.Utc);
            MessageType = MessageType.Normal;
            properties.SetGuid(30, new Guid("11111111-2222-3333-4444-555555555555").ToByteArray()); // PROPID_M_SRC_MACHINE_ID
        }

        public AcknowledgeTypes AcknowledgeType { get; set; }
        public Acknowledgment Acknowledgment { get; set; }
        public MessageQueue AdministrationQueue { get; set; }
        public int AppSpecific { get; set; }
        public DateTime ArrivedTime { get; set; }
        public bool AttachSenderId { get; set; }
        public Stream BodyStream { get; set; }
        public int BodyType { get; set; }
        public string CorrelationId { get; set; }
        public MessageQueue DestinationQueue { get; set; }
        public byte[] Extension { get; set; }
        public string Id { get; set; }
        public string Label { get; set; }
        public MessageType MessageType { get; set; }
        public MessagePriority Priority { get; set; }
        public bool Recoverable { get; set; }
        public MessageQueue ResponseQueue { get; set; }
        public DateTime SentTime { get; set; }
        public TimeSpan TimeToBeReceived { get; set; }
        public TimeSpan TimeToReachQueue { get; set; }
        public string TransactionId { get; set; }
        public bool UseAuthentication { get; set; }
        public bool UseDeadLetterQueue { get; set; }
        public bool UseEncryption { get; set; }
        public bool UseJournalQueue { get; set; }

        public long LookupId
        {
            get
            {
                if (filter == null || !filter.LookupId) throw new InvalidOperationException("Property LookupId was not retrieved.");
                return number;
            }
        }
    }

    public sealed class MessageEnumerator : IDisposable
    {
        private readonly MessageQueue queue;
        private int at = -1;
        internal MessageEnumerator(MessageQueue queue) { this.queue = queue; }
        public bool MoveNext(TimeSpan timeout) { return ++at < queue.Messages.Count; }
        public Message Current { get { return queue.Shown(queue.Messages[at]); } }
        public void Dispose() { }
    }

    public class MessageQueue : Component
    {
        private static readonly Dictionary<string, List<Message>> queues = new Dictionary<string, List<Message>>();
        private static long last = 70;
        public static readonly TimeSpan InfiniteTimeout = TimeSpan.FromMilliseconds(uint.MaxValue);
        private readonly string path;
        private bool denies;

        public MessageQueue(string path) : this(path, (QueueAccessMode)3) { }

        public MessageQueue(string path, QueueAccessMode access)
        {
            this.path = path;
            MessageReadPropertyFilter = new MessagePropertyFilter();
            if ((int)access != 3) Recorded.Call("MessageQueue " + path + " " + access);
        }

        public static MessageQueue Create(string path, bool transactional)
        {
            Recorded.Call("MessageQueue.Create " + path + " " + transactional);
            queues[Key(path)] = new List<Message>();
            return new MessageQueue(path);
        }

        public static void Delete(string path) { queues.Remove(Key(path)); }
        public static bool Exists(string path) { return queues.ContainsKey(Key(path)); }

        private static string Key(string path) { return path.Substring(path.IndexOf('\\') + 1).ToLowerInvariant(); }

        internal List<Message> Messages
        {
            get
            {
                List<Message> found;
                if (!queues.TryGetValue(Key(path), out found)) throw new MessageQueueException(unchecked((int)0xC00E0003));
                return found;
            }
        }

        internal Message Shown(Message message)
        {
            message.filter = MessageReadPropertyFilter;
            return message;
        }

        public bool Authenticate { get; set; }
        public short BasePriority { get; set; }
        public Guid Category { get; set; }
        public EncryptionRequired EncryptionRequired { get; set; }
        public string Label { get; set; }
        public long MaximumJournalSize { get; set; }
        public long MaximumQueueSize { get; set; }
        public MessagePropertyFilter MessageReadPropertyFilter { get; set; }
        public bool Transactional { get; set; }
        public bool UseJournalQueue { get; set; }
        public string FormatName { get { return path.Replace("FormatName:", ""); } }
        public bool DenySharedReceive { get { return denies; } set { denies = value; if (value) Recorded.Call("DenySharedReceive"); } }
        public IntPtr ReadHandle { get { Recorded.Call("ReadHandle"); return new IntPtr(17); } }
        public IntPtr WriteHandle { get { Recorded.Call("WriteHandle"); return new IntPtr(18); } }
        public void Close() { Recorded.Call("Close"); }
        public void Purge() { Messages.Clear(); }
        public MessageEnumerator GetMessageEnumerator() { return new MessageEnumerator(this); }

        public void SetPermissions(string user, MessageQueueAccessRights rights) { Recorded.Call("SetPermissions " + user + ": " + rights); }

        public void Send(object message) { Send(message, MessageQueueTransactionType.None); }
        public void Send(object message, MessageQueueTransaction transaction) { Kept((Message)message, "transaction"); }
        public void Send(object message, MessageQueueTransactionType type) { Kept((Message)message, type.ToString()); }

        private void Kept(Message message, string how)
        {
            Recorded.Call("Send " + path + " " + how);
            message.number = ++last;
            message.CorrelationId = message.CorrelationId ?? "";
            Messages.Add(message);
        }

        public Cursor CreateCursor() { Recorded.Call("CreateCursor"); return new Cursor(); }
        public Message Peek(TimeSpan timeout) { return First("Peek " + timeout, false); }
        public Message Peek(TimeSpan timeout, Cursor cursor, PeekAction action) { return First("Peek " + timeout + " cursor " + action, false); }
        public Message Receive(TimeSpan timeout) { return First("Receive " + timeout, true); }
        public Message Receive(TimeSpan timeout, Cursor cursor) { return First("Receive " + timeout + " cursor", true); }
        public Message Receive(TimeSpan timeout, MessageQueueTransaction transaction) { return First("Receive " + timeout + " transaction", true); }
        public Message Receive(TimeSpan timeout, MessageQueueTransactionType type) { return First("Receive " + timeout + " " + type, true); }
        public Message Receive(TimeSpan timeout, Cursor cursor, MessageQueueTransaction transaction) { return First("Receive " + timeout + " cursor transaction", true); }
        public Message Receive(TimeSpan timeout, Cursor cursor, MessageQueueTransactionType type) { return First("Receive " + timeout + " cursor " + type, true); }
        public Message PeekByLookupId(MessageLookupAction action, long lookupId) { return Found("PeekByLookupId " + action, lookupId, false); }
        public Message ReceiveByLookupId(MessageLookupAction action, long lookupId, MessageQueueTransaction transaction) { return Found("ReceiveByLookupId " + action + " transaction", lookupId, true); }
        public Message ReceiveByLookupId(MessageLookupAction action, long lookupId, MessageQueueTransactionType type) { return Found("ReceiveByLookupId " + action + " " + type, lookupId, true); }

        // A read without a limit waits until its I/O is cancelled, which MSMQ reports as an error of the read.
        private Message First(string call, bool take)
        {
            Recorded.Call(call);
            if (Messages.Count == 0 && call.StartsWith("Receive " + InfiniteTimeout))
            {
                Console.Error.WriteLine("waits");
                while (!Recorded.Has("CancelIoEx")) Thread.Sleep(5);
                throw new MessageQueueException(unchecked((int)0xC00E0008));
            }
            if (Messages.Count == 0) throw new MessageQueueException(unchecked((int)0xC00E001B));
            return Taken(Messages[0], take);
        }

        private Message Found(string call, long lookupId, bool take)
        {
            Recorded.Call(call + " " + lookupId);
            foreach (Message one in Messages)
                if (one.number == lookupId) return Taken(one, take);
            throw new InvalidOperationException("Message requested was not found in the queue specified.");
        }

        private Message Taken(Message message, bool take)
        {
            if (take) Messages.Remove(message);
            return Shown(message);
        }
    }
}
