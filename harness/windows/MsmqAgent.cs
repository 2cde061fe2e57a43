// The agent of mqconform on a Windows machine: it carries out the control protocol (docs/control-protocol.md) on MSMQ.
//
// One file, C# 5, .NET Framework 4.x: agent.ps1 compiles it with Add-Type, nothing is installed. Everything that
// System.Messaging of Mono has is called directly and run in the tests of mqconform. The functions that only Windows has
// (cursors, lookup identifiers, management, services) are behind the interface IWindowsOnly; OnWindows, at the end of
// this file, calls them by late binding and mqrt.dll: a missing member costs one verb, not the agent.
//
// SPDX-License-Identifier: GPL-2.0-or-later

using System;
using System.Collections;
using System.Collections.Generic;
using System.ComponentModel;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Messaging;
using System.Net;
using System.Net.Sockets;
using System.Reflection;
using System.Runtime.ExceptionServices;
using System.Runtime.InteropServices;
using System.Security.Principal;
using System.ServiceProcess;
using System.Text;
using System.Threading;
using System.Transactions;
using Microsoft.Win32;

namespace Mqconform
{
    /// <summary>A request that is not carried out; its text becomes the error in the answer.</summary>
    public class Refused : Exception
    {
        public Refused(string why) : base(why) { }
    }

    /// <summary>A request that this agent can never carry out, even if the system could.</summary>
    public sealed class Unsupported : Refused
    {
        public Unsupported(string why) : base(why) { }
    }

    /// <summary>The limits of input that is accepted before it is checked.</summary>
    public static class Limits
    {
        public const int LineBytes = 8 * 1024 * 1024;
        public const int Depth = 16;
        public const int Waiting = 200;
        public const int Connections = 64;
        public const int Held = 10000;
    }

    /// <summary>JSON values: Dictionary of string to object, List of object, string, long, double, bool, null.</summary>
    public sealed class Json
    {
        private readonly string text;
        private int at;

        private Json(string text) { this.text = text; }

        public static object Read(string text)
        {
            Json reader = new Json(text);
            object value = reader.Value(0);
            reader.Space();
            if (reader.at != text.Length) throw reader.Bad("more after the value");
            return value;
        }

        public static string Write(object value)
        {
            StringBuilder to = new StringBuilder();
            Write(value, to);
            return to.ToString();
        }

        private FormatException Bad(string what)
        {
            return new FormatException(what + " at character " + at);
        }

        private void Space()
        {
            while (at < text.Length && " \t\r\n".IndexOf(text[at]) >= 0) at++;
        }

        private char Next()
        {
            if (at >= text.Length) throw Bad("the text ends");
            return text[at++];
        }

        private object Value(int depth)
        {
            if (depth > Limits.Depth) throw Bad("nested deeper than " + Limits.Depth);
            Space();
            char first = Next();
            if (first == '{') return Members(depth);
            if (first == '[') return Elements(depth);
            if (first == '"') return Characters();
            at--;
            if (first == '-' || char.IsDigit(first)) return Number();
            foreach (KeyValuePair<string, object> word in Words)
            {
                if (string.CompareOrdinal(text, at, word.Key, 0, word.Key.Length) != 0) continue;
                at += word.Key.Length;
                return word.Value;
            }
            throw Bad("no JSON value");
        }

        private static readonly Dictionary<string, object> Words =
            new Dictionary<string, object> { { "true", true }, { "false", false }, { "null", null } };

        private object Members(int depth)
        {
            Dictionary<string, object> found = new Dictionary<string, object>();
            Space();
            if (at < text.Length && text[at] == '}') { at++; return found; }
            while (true)
            {
                Space();
                if (Next() != '"') throw Bad("no name of a member");
                string name = Characters();
                Space();
                if (Next() != ':') throw Bad("no colon");
                if (found.ContainsKey(name)) throw Bad("a name twice");
                found[name] = Value(depth + 1);
                Space();
                char after = Next();
                if (after == '}') return found;
                if (after != ',') throw Bad("no comma");
            }
        }

        private object Elements(int depth)
        {
            List<object> found = new List<object>();
            Space();
            if (at < text.Length && text[at] == ']') { at++; return found; }
            while (true)
            {
                found.Add(Value(depth + 1));
                Space();
                char after = Next();
                if (after == ']') return found;
                if (after != ',') throw Bad("no comma");
            }
        }

        private string Characters()
        {
            StringBuilder found = new StringBuilder();
            while (true)
            {
                char one = Next();
                if (one == '"') return found.ToString();
                if (one < ' ') throw Bad("a control character in a string");
                found.Append(one == '\\' ? Escaped() : one);
            }
        }

        private char Escaped()
        {
            char kind = Next();
            int simple = "\"\\/bfnrt".IndexOf(kind);
            if (simple >= 0) return "\"\\/\b\f\n\r\t"[simple];
            ushort code;
            if (kind != 'u' || at + 4 > text.Length
                || !ushort.TryParse(text.Substring(at, 4), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out code))
                throw Bad("no escape");
            at += 4;
            return (char)code;
        }

        private object Number()
        {
            int start = at;
            while (at < text.Length && "+-.eE0123456789".IndexOf(text[at]) >= 0) at++;
            string digits = text.Substring(start, at - start);
            long whole;
            double real;
            if (long.TryParse(digits, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out whole)) return whole;
            if (double.TryParse(digits, NumberStyles.Float, CultureInfo.InvariantCulture, out real)) return real;
            throw Bad("no number");
        }

        private static void Write(object value, StringBuilder to)
        {
            string text = value as string;
            IDictionary members = value as IDictionary;
            IEnumerable elements = value as IEnumerable;
            if (value == null) to.Append("null");
            else if (value is bool) to.Append((bool)value ? "true" : "false");
            else if (text != null) Quote(text, to);
            else if (members != null)
            {
                to.Append('{');
                string comma = "";
                foreach (DictionaryEntry member in members)
                {
                    to.Append(comma);
                    Quote((string)member.Key, to);
                    to.Append(": ");
                    Write(member.Value, to);
                    comma = ", ";
                }
                to.Append('}');
            }
            else if (elements != null)
            {
                to.Append('[');
                string comma = "";
                foreach (object element in elements)
                {
                    to.Append(comma);
                    Write(element, to);
                    comma = ", ";
                }
                to.Append(']');
            }
            else to.Append(Convert.ToString(value, CultureInfo.InvariantCulture));
        }

        private static void Quote(string text, StringBuilder to)
        {
            to.Append('"');
            foreach (char one in text)
            {
                if (one == '"' || one == '\\') to.Append('\\').Append(one);
                else if (one >= ' ' && one <= '~') to.Append(one);
                else to.Append("\\u").Append(((int)one).ToString("x4", CultureInfo.InvariantCulture));
            }
            to.Append('"');
        }
    }

    /// <summary>An object of an answer.</summary>
    public sealed class Answer : Dictionary<string, object>
    {
        public Answer With(string name, object value)
        {
            this[name] = value;
            return this;
        }
    }

    /// <summary>The arguments of a request; each getter refuses a value of a different type.</summary>
    public sealed class Arguments
    {
        private readonly string verb;
        private readonly Dictionary<string, object> values;

        /// <summary>The objects that the requesting conversation has open.</summary>
        public readonly Dictionary<long, Held> Held;

        public Arguments(string verb, Dictionary<string, object> values, Dictionary<long, Held> held)
        {
            this.verb = verb;
            this.values = values;
            Held = held;
        }

        public IEnumerable<string> Names { get { return values.Keys; } }

        public bool Has(string name)
        {
            object value;
            return values.TryGetValue(name, out value) && value != null;
        }

        /// <summary>Whether the argument is present and null, which means no time limit, or no requested limit.</summary>
        public bool IsNull(string name)
        {
            object value;
            return values.TryGetValue(name, out value) && value == null;
        }

        private T Get<T>(string name, string kind)
        {
            object value;
            if (!values.TryGetValue(name, out value)) throw new Refused(verb + ": argument '" + name + "' is missing");
            if (value is T) return (T)value;
            throw new Refused(verb + ": " + name + " must be " + kind);
        }

        public string Text(string name) { return Get<string>(name, "a string"); }

        public string Text(string name, string otherwise) { return Has(name) ? Text(name) : otherwise; }

        public bool Flag(string name) { return Get<bool>(name, "true or false"); }

        public bool Flag(string name, bool otherwise) { return Has(name) ? Flag(name) : otherwise; }

        public long Number(string name, long least, long most)
        {
            long value = Get<long>(name, "an integer");
            if (value < least || value > most)
                throw new Refused(verb + ": " + name + " must be from " + least + " to " + most);
            return value;
        }

        public List<string> Words(string name)
        {
            List<string> found = new List<string>();
            if (!Has(name)) return found;
            foreach (object one in Get<List<object>>(name, "a list of strings"))
            {
                if (!(one is string)) throw new Refused(verb + ": " + name + " must be a list of strings");
                found.Add((string)one);
            }
            return found;
        }

        public Guid Identifier(string name)
        {
            Guid found;
            if (Guid.TryParse(Text(name), out found)) return found;
            throw new Refused(verb + ": " + name + " must be a GUID");
        }

        public byte[] Bytes(string name)
        {
            try
            {
                return Convert.FromBase64String(Text(name));
            }
            catch (FormatException)
            {
                throw new Refused(verb + ": " + name + " must be base64");
            }
        }

        /// <summary>The value of a word in a table; an unknown word is refused with a list of the known words.</summary>
        public T OneOf<T>(string name, Dictionary<string, T> table)
        {
            T found;
            if (table.TryGetValue(Text(name), out found)) return found;
            throw new Refused(verb + ": " + name + " must be one of " + string.Join(", ", table.Keys));
        }
    }

    /// <summary>The names of MSMQ's errors: MS-MQMQ 2.4.</summary>
    public static class Errors
    {
        public const uint Facility = 0xC00E0000;
        public const int Cancelled = unchecked((int)0xC00E0008), IoTimeout = unchecked((int)0xC00E001B);
        public const int MessageNotFound = unchecked((int)0xC00E0088);

        private const string Known =
            "02 PROPERTY;03 QUEUE_NOT_FOUND;04 QUEUE_NOT_ACTIVE;05 QUEUE_EXISTS;06 INVALID_PARAMETER;07 INVALID_HANDLE;" +
            "08 OPERATION_CANCELLED;09 SHARING_VIOLATION;0B SERVICE_NOT_AVAILABLE;0D MACHINE_NOT_FOUND;10 ILLEGAL_SORT;" +
            "11 ILLEGAL_USER;13 NO_DS;14 ILLEGAL_QUEUE_PATHNAME;18 ILLEGAL_PROPERTY_VALUE;19 ILLEGAL_PROPERTY_VT;" +
            "1A BUFFER_OVERFLOW;1B IO_TIMEOUT;1C ILLEGAL_CURSOR_ACTION;1D MESSAGE_ALREADY_RECEIVED;1E ILLEGAL_FORMATNAME;" +
            "1F FORMATNAME_BUFFER_TOO_SMALL;20 UNSUPPORTED_FORMATNAME_OPERATION;21 ILLEGAL_SECURITY_DESCRIPTOR;" +
            "22 SENDERID_BUFFER_TOO_SMALL;23 SECURITY_DESCRIPTOR_TOO_SMALL;24 CANNOT_IMPERSONATE_CLIENT;25 ACCESS_DENIED;" +
            "26 PRIVILEGE_NOT_HELD;27 INSUFFICIENT_RESOURCES;28 USER_BUFFER_TOO_SMALL;2A MESSAGE_STORAGE_FAILED;" +
            "2B SENDER_CERT_BUFFER_TOO_SMALL;2C INVALID_CERTIFICATE;2D CORRUPTED_INTERNAL_CERTIFICATE;" +
            "2F NO_INTERNAL_USER_CERT;30 CORRUPTED_SECURITY_DATA;31 CORRUPTED_PERSONAL_CERT_STORE;" +
            "33 COMPUTER_DOES_NOT_SUPPORT_ENCRYPTION;35 BAD_SECURITY_CONTEXT;36 COULD_NOT_GET_USER_SID;" +
            "37 COULD_NOT_GET_ACCOUNT_INFO;3B ILLEGAL_PROPERTY_SIZE;3D ILLEGAL_MQQUEUEPROPS;3E PROPERTY_NOTALLOWED;" +
            "3F INSUFFICIENT_PROPERTIES;40 MACHINE_EXISTS;43 DS_ERROR;45 UNSUPPORTED_ACCESS_MODE;" +
            "46 RESULT_BUFFER_TOO_SMALL;49 NO_RESPONSE_FROM_OBJECT_SERVER;4A OBJECT_SERVER_NOT_AVAILABLE;" +
            "4B QUEUE_NOT_AVAILABLE;4C DTC_CONNECT;4E TRANSACTION_IMPORT;50 TRANSACTION_USAGE;51 TRANSACTION_SEQUENCE;" +
            "55 MISSING_CONNECTOR_TYPE;56 STALE_HANDLE;58 TRANSACTION_ENLIST;5A QUEUE_DELETED;5B ILLEGAL_CONTEXT;" +
            "5D LABEL_TOO_LONG;5E LABEL_BUFFER_TOO_SMALL;64 ILLEGAL_OPERATION;65 WRITE_NOT_ALLOWED;" +
            "66 WKS_CANT_SERVE_CLIENT;69 REMOTE_MACHINE_NOT_AVAILABLE;6A UNSUPPORTED_OPERATION;" +
            "6B ENCRYPTION_PROVIDER_NOT_SUPPORTED;6D CERTIFICATE_NOT_PROVIDED;6E Q_DNS_PROPERTY_NOT_SUPPORTED;" +
            "78 GUID_NOT_MATCHING;79 PUBLIC_KEY_NOT_FOUND;7A PUBLIC_KEY_DOES_NOT_EXIST;7B ILLEGAL_MQPRIVATEPROPS;" +
            "7F CANNOT_HASH_DATA_EX;80 CANNOT_SIGN_DATA_EX;81 CANNOT_CREATE_HASH_EX;82 FAIL_VERIFY_SIGNATURE_EX;" +
            "87 PROPERTIES_CONFLICT;88 MESSAGE_NOT_FOUND;8A NOT_SUPPORTED_BY_DEPENDENT_CLIENTS;" +
            "8B OPERATION_NOT_SUPPORTED_BY_REMOTE_COMPUTER;91 Q_ADS_PROPERTY_NOT_SUPPORTED;99 RESOLVE_ADDRESS;" +
            "9A TOO_MANY_PROPERTIES;9B MESSAGE_NOT_AUTHENTICATED;9C MESSAGE_LOCKED_UNDER_TRANSACTION";

        private static readonly Dictionary<uint, string> Names = Read();

        private static Dictionary<uint, string> Read()
        {
            Dictionary<uint, string> names = new Dictionary<uint, string>();
            foreach (string entry in Known.Split(';'))
                names[Facility | uint.Parse(entry.Substring(0, 2), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture)] =
                    "MQ_ERROR_" + entry.Substring(3);
            return names;
        }

        /// <summary>Return the name of a status in MSMQ, or only its number if it has no name.</summary>
        public static string Name(int status)
        {
            string number = "0x" + unchecked((uint)status).ToString("X8", CultureInfo.InvariantCulture);
            string name;
            return Names.TryGetValue(unchecked((uint)status), out name) ? name + " (" + number + ")" : number;
        }

        public static void Check(int status, string what)
        {
            if (status < 0) throw new Refused(what + ": " + Name(status));
        }

        /// <summary>Return an error without words in the machine's language: Windows error numbers stay numbers.</summary>
        public static string Say(Exception error)
        {
            while ((error is TargetInvocationException || error is TypeInitializationException) && error.InnerException != null)
                error = error.InnerException;
            MessageQueueException queue = error as MessageQueueException;
            if (queue != null) return Name((int)queue.MessageQueueErrorCode);
            if (error is Refused) return OneLine(error.Message);
            Win32Exception system = error as Win32Exception;
            if (system != null) return "error " + system.NativeErrorCode + " of Windows";
            ExternalException external = error as ExternalException;
            if (external != null) return error.GetType().Name + " " + Name(external.ErrorCode);
            string said = error.GetType().Name + ": " + OneLine(error.Message);
            return error.InnerException == null ? said : said + " (" + Say(error.InnerException) + ")";
        }

        private static string OneLine(string text)
        {
            string line = (text ?? "").Replace("\r", " ").Replace("\n", " ").Trim();
            return line.Length <= 400 ? line : line.Substring(0, 400);
        }
    }

    /// <summary>A transaction of an application: MSMQ's own, or one that MSDTC coordinates.</summary>
    public sealed class Work
    {
        public readonly Guid Identifier;
        public readonly MessageQueueTransaction Internal;
        public readonly CommittableTransaction External;
        public int Operations;

        public Work(Guid identifier, bool external)
        {
            Identifier = identifier;
            if (external)
            {
                External = new CommittableTransaction(TimeSpan.FromMinutes(10));
                return;
            }
            Internal = new MessageQueueTransaction();
            Internal.Begin();
        }

        /// <summary>Carry out an operation in the transaction; a failure of the operation does not decide the transaction.</summary>
        public T Do<T>(Func<T> internally, Func<T> externally)
        {
            T done;
            if (External == null) done = internally();
            else
            {
                using (TransactionScope scope = new TransactionScope(External))
                {
                    try
                    {
                        done = externally();
                    }
                    finally
                    {
                        scope.Complete();
                    }
                }
            }
            Operations++;
            return done;
        }
    }

    /// <summary>
    /// The members that Mono's System.Messaging lacks. ``work`` may be null: outside of any transaction. Properties are those of
    /// MS-MQMQ 2.3.12, targets MACHINE and QUEUE=format name.
    /// </summary>
    public interface IWindowsOnly
    {
        Guid Identifier();
        Answer Product();
        MessageQueue At(string path);
        MessageQueue Open(string path, QueueAccessMode access, bool denyReceive);
        string FormatName(MessageQueue queue);
        void Grant(MessageQueue queue);
        void AskForLookupId(MessageQueue queue);
        string GetLabel(MessageQueue queue);
        void SetLabel(MessageQueue queue, string label);
        object OpenCursor(MessageQueue queue);
        void CloseCursor(object cursor);
        Message PeekAt(MessageQueue queue, object cursor, bool next, TimeSpan timeout);
        Message ReceiveAt(MessageQueue queue, object cursor, TimeSpan timeout, Work work);
        Message Lookup(MessageQueue queue, string seek, long lookupId, bool peek, Work work);
        void CancelReads(MessageQueue queue);
        long? LookupId(Message message);
        Guid? Source(Message message);
        void SetProperty(Message message, int property, int value);
        object[] Manage(string target, int[] properties);
        void Act(string target, string action);
        long Move(string queue, long lookupId, string to, Work work);
        void Reject(string queue, long lookupId, Work work);
        void Run(string service, bool run);
        bool Runs(string service);
        void Restart(string service);
        void GiveBack();
    }

    /// <summary>Messages as the control protocol shows them, and as applications send them.</summary>
    public sealed class Messages
    {
        private static readonly DateTime Epoch = new DateTime(1970, 1, 1, 0, 0, 0, DateTimeKind.Utc);
        private const string NoTransaction = "00000000-0000-0000-0000-000000000000";
        private static readonly Encoding Text = new UTF8Encoding(false, true);

        public static readonly Dictionary<string, int> Acks = new Dictionary<string, int>
        {
            { "positive_arrival", 1 }, { "positive_receive", 2 }, { "negative_arrival", 4 }, { "negative_receive", 8 }
        };

        private static readonly Dictionary<string, bool> Journals =
            new Dictionary<string, bool> { { "positive", true }, { "negative", false } };

        // MQMSG_AUTH_LEVEL_..., MQMSG_PRIV_LEVEL_..., CALG_...: PROPID_M_AUTH_LEVEL 24, _PRIV_LEVEL 23, _HASH_ALG 26.
        private static readonly Dictionary<string, int> AuthenticationLevels =
            new Dictionary<string, int> { { "none", 0 }, { "sig10", 2 }, { "sig20", 4 }, { "sig30", 8 } };
        private static readonly Dictionary<string, int> PrivacyLevels =
            new Dictionary<string, int> { { "none", 0 }, { "base", 1 }, { "enhanced", 3 }, { "advanced", 5 } };
        private static readonly Dictionary<string, int> Hashes = new Dictionary<string, int>
        {
            { "md2", 0x8001 }, { "md4", 0x8002 }, { "md5", 0x8003 }, { "sha1", 0x8004 },
            { "sha256", 0x800c }, { "sha512", 0x800e }
        };

        // Classes of acknowledgments (MS-MQMQ 2.2.18.1.6 and 2.3.1); System.Messaging has their numbers.
        private static readonly Dictionary<int, string> Classes = new Dictionary<int, string>
        {
            { 0x0002, "ACK_REACH_QUEUE" }, { 0x4000, "ACK_RECEIVE" }, { 0x8000, "NACK_BAD_DST_Q" },
            { 0x8001, "NACK_DELETED" }, { 0x8002, "NACK_REACH_QUEUE_TIMEOUT" }, { 0x8003, "NACK_Q_EXCEED_QUOTA" },
            { 0x8004, "NACK_ACCESS_DENIED" }, { 0x8005, "NACK_HOP_COUNT_EXCEEDED" }, { 0x8006, "NACK_BAD_SIGNATURE" },
            { 0x8007, "NACK_BAD_ENCRYPTION" }, { 0x8008, "NACK_COULD_NOT_ENCRYPT" },
            { 0x8009, "NACK_NOT_TRANSACTIONAL_Q" }, { 0x800A, "NACK_NOT_TRANSACTIONAL_MSG" },
            { 0x800B, "NACK_UNSUPPORTED_CRYPTO_PROVIDER" }, { 0x800C, "NACK_SOURCE_COMPUTER_GUID_CHANGED" },
            { 0xC000, "NACK_Q_DELETED" }, { 0xC001, "NACK_Q_PURGED" }, { 0xC002, "NACK_RECEIVE_TIMEOUT" },
            { 0xC004, "NACK_RECEIVE_REJECTED" }
        };

        private readonly IWindowsOnly windows;

        public Messages(IWindowsOnly windows) { this.windows = windows; }

        public Message Make(Arguments sent)
        {
            Message message = new Message();
            byte[] body = sent.Has("body_base64") ? sent.Bytes("body_base64") : Text.GetBytes(sent.Text("body", ""));
            message.BodyStream = new MemoryStream(body);
            message.BodyType = sent.Has("body_type") ? unchecked((int)sent.Number("body_type", 0, uint.MaxValue)) : 0;
            message.Label = sent.Text("label", "");
            message.Recoverable = sent.Text("delivery", "express") != "express";
            if (sent.Has("priority")) message.Priority = (MessagePriority)sent.Number("priority", 0, 7);
            if (sent.Has("application_tag"))
                message.AppSpecific = unchecked((int)sent.Number("application_tag", 0, uint.MaxValue));
            if (sent.Has("extension_base64")) message.Extension = sent.Bytes("extension_base64");
            if (sent.Has("correlation_id")) message.CorrelationId = Correlation(sent.Text("correlation_id"));
            if (sent.Has("admin_queue")) message.AdministrationQueue = Named(sent.Text("admin_queue"));
            if (sent.Has("response_queue")) message.ResponseQueue = Named(sent.Text("response_queue"));
            if (!sent.IsNull("time_to_reach_queue_s")) // a property that is not set has the system's default
                message.TimeToReachQueue = TimeSpan.FromSeconds(
                    sent.Has("time_to_reach_queue_s") ? sent.Number("time_to_reach_queue_s", 0, uint.MaxValue) : uint.MaxValue);
            if (sent.Has("time_to_be_received_s"))
                message.TimeToBeReceived = TimeSpan.FromSeconds(sent.Number("time_to_be_received_s", 0, uint.MaxValue));
            message.AcknowledgeType = (AcknowledgeTypes)Sum(sent.Words("acks"));
            foreach (string kind in sent.Words("journal"))
            {
                bool positive;
                if (!Journals.TryGetValue(kind, out positive)) throw new Refused("send: unknown journal '" + kind + "'");
                if (positive) message.UseJournalQueue = true;
                else message.UseDeadLetterQueue = true;
            }
            Protect(message, sent);
            return message;
        }

        private MessageQueue Named(string formatName) { return windows.At(Agent.Formatted + formatName); }

        private static int Sum(List<string> acks)
        {
            int sum = 0;
            foreach (string ack in acks)
            {
                int bit;
                if (!Acks.TryGetValue(ack, out bit)) throw new Refused("send: unknown acknowledgment '" + ack + "'");
                sum |= bit;
            }
            return sum;
        }

        private void Protect(Message message, Arguments sent)
        {
            if (sent.Text("sender", "") == "none") message.AttachSenderId = false;
            else if (sent.Has("sender")) throw new Unsupported("send: this agent sends as the user that it runs as, or as none");
            int signed = sent.Has("authentication_level") ? sent.OneOf("authentication_level", AuthenticationLevels) : 0;
            if (signed != 0)
            {
                message.UseAuthentication = true;
                windows.SetProperty(message, 24, signed);
                if (sent.Has("hash_algorithm")) windows.SetProperty(message, 26, sent.OneOf("hash_algorithm", Hashes));
            }
            int encrypted = sent.Has("privacy_level") ? sent.OneOf("privacy_level", PrivacyLevels) : 0;
            if (encrypted == 0) return;
            message.UseEncryption = true;
            windows.SetProperty(message, 23, encrypted);
        }

        /// <summary>The properties that a read requests.</summary>
        public static void Ask(MessageQueue queue)
        {
            MessagePropertyFilter filter = new MessagePropertyFilter();
            filter.ClearAll();
            filter.AcknowledgeType = filter.Acknowledgment = filter.AdministrationQueue = filter.AppSpecific = true;
            filter.ArrivedTime = filter.Body = filter.CorrelationId = filter.DestinationQueue = filter.Extension = true;
            filter.Id = filter.Label = filter.MessageType = filter.Priority = filter.Recoverable = true;
            filter.ResponseQueue = filter.SentTime = filter.SourceMachine = filter.TransactionId = true;
            filter.UseDeadLetterQueue = filter.UseJournalQueue = true;
            queue.MessageReadPropertyFilter = filter;
        }

        // Timers are left out: a read shows what remains of them, not what was sent.
        public Answer Show(Message message)
        {
            byte[] body = Whole(message.BodyStream);
            List<string> acks = new List<string>(), journal = new List<string>();
            foreach (KeyValuePair<string, int> ack in Acks)
                if (((int)message.AcknowledgeType & ack.Value) != 0) acks.Add(ack.Key);
            if (message.UseDeadLetterQueue) journal.Add("negative");
            if (message.UseJournalQueue) journal.Add("positive");
            bool transactional = !string.IsNullOrEmpty(message.TransactionId) && !message.TransactionId.StartsWith(NoTransaction);
            Answer shown = new Answer()
                .With("message_id", Braced(message.Id)).With("label", message.Label ?? "").With("class", Class(message))
                .With("body_base64", Convert.ToBase64String(body)).With("body", AsText(body))
                .With("body_type", unchecked((uint)message.BodyType)).With("priority", (int)message.Priority)
                .With("delivery", transactional ? "transactional" : message.Recoverable ? "recoverable" : "express")
                .With("destination", Name(message.DestinationQueue)).With("admin_queue", Name(message.AdministrationQueue))
                .With("response_queue", Name(message.ResponseQueue)).With("correlation_id", Hexadecimal(message.CorrelationId))
                .With("application_tag", unchecked((uint)message.AppSpecific))
                .With("extension_base64", Convert.ToBase64String(message.Extension ?? new byte[0]))
                .With("sent_time", Seconds(message.SentTime)).With("arrived_time", Seconds(message.ArrivedTime))
                .With("acks", acks).With("journal", journal);
            long? lookupId = windows.LookupId(message);
            if (lookupId.HasValue) shown["lookup_id"] = lookupId.Value;
            Guid? source = windows.Source(message);
            if (source.HasValue) shown["source"] = source.Value.ToString();
            return shown;
        }

        /// <summary>Convert an identifier of System.Messaging, GUID\number, to the form of the protocol, {GUID}\number.</summary>
        public static string Braced(string identifier)
        {
            int end = identifier.IndexOf('\\');
            return end < 0 || identifier[0] == '{' ? identifier : "{" + identifier.Substring(0, end) + "}" + identifier.Substring(end);
        }

        private string Name(MessageQueue queue)
        {
            string name = queue == null ? null : windows.FormatName(queue);
            return string.IsNullOrEmpty(name) ? null : name;
        }

        private static string Class(Message message)
        {
            if (message.MessageType == MessageType.Report) return "MQMSG_CLASS_REPORT";
            if (message.MessageType == MessageType.Normal) return "MQMSG_CLASS_NORMAL";
            string name;
            int number = (int)message.Acknowledgment & 0xFFFF;
            return Classes.TryGetValue(number, out name) ? "MQMSG_CLASS_" + name : "0x" + number.ToString("X4");
        }

        // The GUID as in memory, then the number, little-endian: the 20 bytes of MS-MQMQ 2.2.8.
        public static string Hexadecimal(string identifier)
        {
            string[] parts = (identifier ?? "").Split('\\');
            Guid guid;
            long number; // System.Messaging shows numbers above 0x7FFFFFFF as negative numbers
            if (parts.Length != 2 || !Guid.TryParse(parts[0], out guid) || !long.TryParse(parts[1], out number))
                return new string('0', 40);
            byte[] bytes = new byte[20];
            guid.ToByteArray().CopyTo(bytes, 0);
            for (int i = 0; i < 4; i++) bytes[16 + i] = (byte)(number >> (8 * i));
            return BitConverter.ToString(bytes).Replace("-", "").ToLowerInvariant();
        }

        /// <summary>Convert 20 bytes in hexadecimal to an identifier of System.Messaging, GUID\number.</summary>
        private static string Correlation(string hexadecimal)
        {
            byte[] bytes = new byte[20], guid = new byte[16];
            if (hexadecimal.Length != 2 * bytes.Length) throw new Refused("send: correlation_id must be 40 hexadecimal digits");
            for (int i = 0; i < bytes.Length; i++)
                if (!byte.TryParse(hexadecimal.Substring(2 * i, 2), NumberStyles.AllowHexSpecifier,
                        CultureInfo.InvariantCulture, out bytes[i]))
                    throw new Refused("send: correlation_id must be 40 hexadecimal digits");
            Array.Copy(bytes, guid, guid.Length);
            return new Guid(guid) + "\\" + BitConverter.ToInt32(bytes, guid.Length);
        }

        private static long Seconds(DateTime when) { return (long)(when.ToUniversalTime() - Epoch).TotalSeconds; }

        private static byte[] Whole(Stream stream)
        {
            if (stream == null) return new byte[0];
            MemoryStream whole = new MemoryStream();
            if (stream.CanSeek) stream.Position = 0;
            stream.CopyTo(whole);
            return whole.ToArray();
        }

        private static string AsText(byte[] body)
        {
            try
            {
                return Text.GetString(body);
            }
            catch (DecoderFallbackException)
            {
                return null;
            }
        }
    }

    /// <summary>The arguments and the action of a verb. A verb that waits runs in parallel with the other verbs.</summary>
    public sealed class Verb
    {
        public readonly Func<Arguments, Reading, Answer> Run;
        public readonly HashSet<string> Takes;
        public readonly bool Waits;

        public Verb(string takes, Func<Arguments, Answer> run)
            : this(takes, delegate(Arguments given, Reading reading) { return run(given); })
        {
            Waits = false;
        }

        public Verb(string takes, Func<Arguments, Reading, Answer> run)
        {
            Takes = new HashSet<string>(takes.Split(new[] { ' ' }, StringSplitOptions.RemoveEmptyEntries));
            Run = run;
            Waits = true;
        }
    }

    /// <summary>A read that waits, so that cancel can find its queue.</summary>
    public sealed class Reading
    {
        public MessageQueue Queue;
        public bool Cancelled;
    }

    /// <summary>A queue that an application has open, or a cursor in one.</summary>
    public sealed class Held
    {
        public readonly MessageQueue Queue;
        public readonly object Cursor;
        public readonly bool Own;

        /// <summary>For a cursor, its queue.</summary>
        public Held Whose;

        /// <summary>The number of waiting reads; after closing has begun, no read may begin or continue.</summary>
        public int Readers;
        public bool Closing;

        public Held(MessageQueue queue, object cursor, bool own)
        {
            Queue = queue;
            Cursor = cursor;
            Own = own;
        }
    }

    /// <summary>The verbs. All connections share their state, because they share the system.</summary>
    public sealed class Agent
    {
        public const string Formatted = "FormatName:";
        private const string Here = "DIRECT=OS:.\\";
        private const int MessageCount = 7, BytesInQueue = 8, State = 11, NextHops = 12, SourceInfo = 24, History = 25;
        private static readonly TimeSpan AtOnce = TimeSpan.Zero;

        public readonly Dictionary<string, Verb> Verbs;
        private readonly IWindowsOnly windows;
        private readonly Messages messages;
        private readonly object gate = new object();
        private readonly Dictionary<Guid, Work> works = new Dictionary<Guid, Work>();
        private readonly Dictionary<string, MessageQueue> paused = new Dictionary<string, MessageQueue>();
        private long last;

        private static readonly Dictionary<string, QueueAccessMode> Accesses = new Dictionary<string, QueueAccessMode>
        {
            { "receive", QueueAccessMode.Receive }, { "peek", QueueAccessMode.Peek }
        };

        private static readonly Dictionary<string, EncryptionRequired> Privacies = new Dictionary<string, EncryptionRequired>
        {
            { "none", EncryptionRequired.None }, { "optional", EncryptionRequired.Optional }, { "body", EncryptionRequired.Body }
        };

        // States as MS-MQMR 3.1.4.1 has them, and their names of MS-MQDMPR 3.1.1.3.
        private static readonly Dictionary<string, string> States = new Dictionary<string, string>
        {
            { "INACTIVE", "Inactive" }, { "CONNECTED", "Connected" }, { "DISCONNECTED", "Disconnected" },
            { "DISCONNECTING", "Disconnecting" }, { "WAITING", "Waiting" }, { "NEED VALIDATION", "NeedValidation" },
            { "ONHOLD", "OnHold" }, { "LOCKED", "Locked" }
        };

        // MS-MQMQ 2.3.12.25, from 0x80000000 on.
        private static readonly string[] Failures =
        {
            "UnknownFailure", "PingFailure", "SocketCreateFailure", "SocketBindFailure", "SocketConnectFailure",
            "TcpNotEnabled", "SocketSendFailure", "SendNotReadyFailure", "DnsFailure", "CertificateValidationFailure",
            "SessionLimitReached", "ConnectionRefused", "RoutingDataNotAvailable", "LowMemory"
        };
        private static readonly string[] Progress = { "InProcess", "EstablishPacketReceived", "Established" };

        // The parts of EodGetSendInfo: PROPID_MGMT_QUEUE_EOD_... (MS-MQMQ 2.3.12.13 to 2.3.12.23).
        private static readonly string[] Transfers =
        {
            "EodLastAck", "EodLastAckTime", "EodLastAckCount", "EodFirstNonAck", "EodLastNonAck", "EodNextSeq",
            "EodNoReadCount", "EodNoAckCount", "EodResendTime", "EodResendInterval", "EodResendCount"
        };

        private static readonly string[] Facilities =
        {
            "queue_control", "send", "send_extension", "open_to_send", "reject", "receive", "transactions", "pause", "restart",
            "environment", "management", "remote_read"
        };

        public Agent(IWindowsOnly windows)
        {
            this.windows = windows;
            messages = new Messages(windows);
            const string properties = " label journaling quota_kb journal_quota_kb authenticated privacy base_priority type";
            const string sent = "to body body_base64 body_type label priority delivery acks admin_queue response_queue " +
                "time_to_reach_queue_s time_to_be_received_s journal application_tag extension_base64 correlation_id transaction " +
                "authentication_level hash_algorithm privacy_level sender";
            Verbs = new Dictionary<string, Verb>
            {
                { "identity", new Verb("", Identity) },
                { "create_queue", new Verb("name transactional" + properties, CreateQueue) },
                { "get_queue", new Verb("name", delegate(Arguments a) { return GetQueue(a.Text("name")); }) },
                { "set_queue", new Verb("name" + properties, SetQueue) },
                { "delete_queue", new Verb("name", DeleteQueue) },
                { "list", new Verb("", List) },
                { "purge", new Verb("queue", delegate(Arguments a) { return Purge(Inside(a.Text("queue"))); }) },
                { "send", new Verb(sent, Send) },
                { "open_to_send", new Verb("to deny_receive", OpenToSend) },
                { "open_queue", new Verb("queue access deny_receive", delegate(Arguments a)
                    { return Open(Inside(a.Text("queue")), a, "handle"); }) },
                { "close_queue", new Verb("handle", delegate(Arguments a) { return Close(a, "handle"); }) },
                { "open_cursor", new Verb("handle", delegate(Arguments a) { return OpenCursor(a, "handle"); }) },
                { "close_cursor", new Verb("cursor", delegate(Arguments a) { return Close(a, "cursor"); }) },
                { "peek", new Verb("queue limit", Peek) },
                { "receive", new Verb("queue handle cursor timeout_ms transaction", delegate(Arguments a, Reading r)
                    { return Read(a, r, false, false); }) },
                { "peek_message", new Verb("queue handle cursor timeout_ms", delegate(Arguments a, Reading r)
                    { return Read(a, r, true, false); }) },
                { "peek_next", new Verb("cursor timeout_ms", delegate(Arguments a, Reading r)
                    { return Read(a, r, true, true); }) },
                { "receive_by_lookup_id", new Verb("queue handle lookup_id seek transaction", delegate(Arguments a)
                    { return Lookup(a, false); }) },
                { "peek_by_lookup_id", new Verb("queue handle lookup_id seek", delegate(Arguments a)
                    { return Lookup(a, true); }) },
                { "move", new Verb("queue lookup_id to transaction", Move) },
                { "reject", new Verb("queue lookup_id transaction", Reject) },
                { "remote_open", new Verb("queue access deny_receive", delegate(Arguments a)
                    { return Open(a.Text("queue"), a, "remote"); }) },
                { "remote_close", new Verb("remote", delegate(Arguments a) { return Close(a, "remote"); }) },
                { "remote_open_cursor", new Verb("remote", delegate(Arguments a) { return OpenCursor(a, "remote"); }) },
                { "remote_close_cursor", new Verb("cursor", delegate(Arguments a) { return Close(a, "cursor"); }) },
                { "remote_receive", new Verb("remote cursor timeout_ms", delegate(Arguments a, Reading r)
                    { return Read(a, r, false, false); }) },
                { "remote_peek", new Verb("remote cursor timeout_ms next", delegate(Arguments a, Reading r)
                    { return Read(a, r, true, a.Flag("next", false)); }) },
                { "remote_receive_by_lookup_id", new Verb("remote lookup_id seek", delegate(Arguments a)
                    { return Lookup(a, false); }) },
                { "remote_peek_by_lookup_id", new Verb("remote lookup_id seek", delegate(Arguments a)
                    { return Lookup(a, true); }) },
                { "remote_purge", new Verb("remote", RemotePurge) },
                { "pause_queue", new Verb("to", Pause) },
                { "resume_queue", new Verb("to", Resume) },
                { "take_offline", new Verb("", delegate(Arguments a) { return Act("MACHINE", "DISCONNECT"); }) },
                { "bring_online", new Verb("", delegate(Arguments a) { return Act("MACHINE", "CONNECT"); }) },
                { "get_outgoing_queue", new Verb("to", GetOutgoingQueue) },
                { "get_transfers", new Verb("queue", GetTransfers) },
                { "begin", new Verb("transaction external", Begin) },
                { "prepare", new Verb("transaction single_phase", Prepare) },
                { "commit", new Verb("transaction", delegate(Arguments a) { return End(a, true); }) },
                { "abort", new Verb("transaction", delegate(Arguments a) { return End(a, false); }) },
                { "environment", new Verb("service coordinator", ChangeEnvironment) },
                { "restart", new Verb("", Restart) }
            };
        }

        // -- the queue manager ----------------------------------------------------------------------------------------

        private Answer Identity(Arguments given)
        {
            return windows.Product().With("protocol", 2).With("guid", windows.Identifier().ToString())
                .With("facilities", Facilities);
        }

        private Answer Act(string target, string action)
        {
            windows.Act(target, action);
            return new Answer();
        }

        private Answer Restart(Arguments given)
        {
            Forget();
            CloseAll(given.Held);
            windows.Restart("MSMQ");
            return new Answer();
        }

        private void Forget()
        {
            lock (gate)
            {
                foreach (MessageQueue one in paused.Values) Quietly(one.Close);
                foreach (Work one in works.Values) if (one.Internal != null) Quietly(one.Internal.Abort);
                paused.Clear();
                works.Clear();
            }
        }

        // The objects to remove may be gone already, so errors of MSMQ about them are ignored.
        private static void Quietly(Action action)
        {
            try
            {
                action();
            }
            catch (MessageQueueException error)
            {
                Trace.WriteLine(error.Message);
            }
            catch (InvalidOperationException error)
            {
                Trace.WriteLine(error.Message);
            }
            catch (Refused error)
            {
                Trace.WriteLine(error.Message);
            }
        }

        private Answer ChangeEnvironment(Arguments given)
        {
            if (given.Has("coordinator")) windows.Run("MSDTC", given.Flag("coordinator"));
            if (given.Has("service"))
            {
                if (!given.Flag("service"))
                {
                    Forget();
                    CloseAll(given.Held);
                }
                windows.Run("MSMQ", given.Flag("service"));
            }
            return new Answer().With("service", windows.Runs("MSMQ")).With("coordinator", windows.Runs("MSDTC"));
        }

        // -- queues ---------------------------------------------------------------------------------------------------

        private static string Inside(string name) { return Here + name; }

        private static string Path(string name) { return ".\\" + name; }

        private Answer CreateQueue(Arguments given)
        {
            string name = given.Text("name");
            if (IsSubqueue(name)) return CreateSubqueue(name);
            MessageQueue queue = MessageQueue.Create(Path(name), given.Flag("transactional", false));
            try
            {
                windows.Grant(queue);
                Change(queue, given);
            }
            catch (Exception)
            {
                MessageQueue.Delete(Path(name));
                throw;
            }
            string made = windows.FormatName(queue);
            queue.Close();
            Answer names = new Answer().With("direct", "DIRECT=OS:" + Environment.MachineName.ToLowerInvariant() + "\\" + name);
            int end = made.IndexOf('=');
            if (end > 0) names[made.Substring(0, end).ToLowerInvariant()] = made;
            return new Answer().With("format_names", names);
        }

        // A subqueue exists once it is opened, and disappears when it is empty and closed.
        private Answer CreateSubqueue(string name)
        {
            MessageQueue queue = Opened(Inside(name), QueueAccessMode.Peek, false);
            queue.Close();
            Answer names = new Answer().With("direct", "DIRECT=OS:" + Environment.MachineName.ToLowerInvariant() + "\\" + name);
            return new Answer().With("format_names", names);
        }

        private void Change(MessageQueue queue, Arguments given)
        {
            if (given.Has("label")) windows.SetLabel(queue, given.Text("label"));
            if (given.Has("journaling")) queue.UseJournalQueue = given.Flag("journaling");
            if (given.Has("quota_kb")) queue.MaximumQueueSize = given.Number("quota_kb", 0, uint.MaxValue);
            if (given.Has("journal_quota_kb")) queue.MaximumJournalSize = given.Number("journal_quota_kb", 0, uint.MaxValue);
            if (given.Has("authenticated")) queue.Authenticate = given.Flag("authenticated");
            if (given.Has("privacy")) queue.EncryptionRequired = given.OneOf("privacy", Privacies);
            if (given.Has("base_priority")) queue.BasePriority = (short)given.Number("base_priority", short.MinValue, short.MaxValue);
            if (given.Has("type")) queue.Category = given.Identifier("type");
        }

        private Answer SetQueue(Arguments given)
        {
            MessageQueue queue = new MessageQueue(Path(given.Text("name")));
            Change(queue, given);
            queue.Close();
            return GetQueue(given.Text("name"));
        }

        private Answer GetQueue(string name)
        {
            MessageQueue queue = new MessageQueue(Path(name));
            object[] sizes = Sizes(Inside(name));
            Answer found = new Answer()
                .With("name", name).With("transactional", queue.Transactional).With("label", windows.GetLabel(queue))
                .With("journaling", queue.UseJournalQueue).With("quota_kb", queue.MaximumQueueSize)
                .With("journal_quota_kb", queue.MaximumJournalSize).With("authenticated", queue.Authenticate)
                .With("privacy", queue.EncryptionRequired.ToString().ToLowerInvariant())
                .With("type", queue.Category.ToString()).With("count", sizes[0]).With("bytes", sizes[1]);
            found["base_priority"] = BasePriority(queue);
            queue.Close();
            return found;
        }

        // The base priority of a private queue is always 0 on Windows, and must not be requested.
        private static int BasePriority(MessageQueue queue)
        {
            try
            {
                return queue.BasePriority;
            }
            catch (MessageQueueException)
            {
                return 0;
            }
        }

        // The management API may not know a queue that is not open: opening the queue makes it known.
        private object[] Sizes(string formatName)
        {
            int[] wanted = { MessageCount, BytesInQueue };
            try
            {
                return windows.Manage("QUEUE=" + formatName, wanted);
            }
            catch (Refused)
            {
                MessageQueue queue = Opened(formatName, QueueAccessMode.Peek, false);
                try
                {
                    return windows.Manage("QUEUE=" + formatName, wanted);
                }
                finally
                {
                    queue.Close();
                }
            }
        }

        private Answer DeleteQueue(Arguments given)
        {
            string name = given.Text("name");
            if (!IsSubqueue(name)) MessageQueue.Delete(Path(name));
            return new Answer();
        }

        private static bool IsSubqueue(string name)
        {
            int end = name.IndexOf(';');
            return end >= 0 && !name.StartsWith("system$", StringComparison.OrdinalIgnoreCase)
                && !name.Substring(end).Equals(";journal", StringComparison.OrdinalIgnoreCase);
        }

        private Answer List(Arguments given)
        {
            List<object> queues = new List<object>(), outgoing = new List<object>(), transactions = new List<object>();
            object[] all = windows.Manage("MACHINE", new[] { 1, 2 });
            foreach (string path in Strings(all[1]))
            {
                string name = path.Substring(path.IndexOf('\\') + 1);
                Add(queues, delegate { return Listed(name); }, delegate { return MessageQueue.Exists(Path(name)); });
            }
            foreach (string name in Strings(all[0]))
                Add(outgoing, delegate { return ListedOutgoing(name); }, delegate { return Active().Contains(name); });
            lock (gate)
            {
                foreach (Work work in works.Values)
                    transactions.Add(new Answer().With("transaction", work.Identifier.ToString())
                        .With("state", "active").With("operations", work.Operations));
            }
            return new Answer().With("queues", queues).With("outgoing", outgoing).With("transactions", transactions);
        }

        // The list omits queues that another application has deleted since the names were read.
        private static void Add(List<object> found, Func<Answer> look, Func<bool> isThere)
        {
            try
            {
                Answer one = look();
                if (one != null) found.Add(one);
            }
            catch (Exception)
            {
                if (isThere()) throw;
            }
        }

        // Format names of the queues that are open, of other queue managers and of this one.
        private List<string> Active() { return Strings(windows.Manage("MACHINE", new[] { 1 })[0]); }

        private Answer Listed(string name)
        {
            using (MessageQueue queue = new MessageQueue(Path(name)))
                return new Answer().With("name", name).With("transactional", queue.Transactional).With("count", Sizes(Inside(name))[0]);
        }

        // null for a local queue that is open.
        private Answer ListedOutgoing(string name)
        {
            object[] one = windows.Manage("QUEUE=" + name, new[] { 4, State, MessageCount });
            if (!"REMOTE".Equals(one[0])) return null;
            return new Answer().With("format_name", name).With("state", Spelled(one[1])).With("count", one[2]);
        }

        private static string Spelled(object state)
        {
            string name = (state as string) ?? "", spelled;
            return States.TryGetValue(name, out spelled) ? spelled : name;
        }

        private static List<string> Strings(object vector)
        {
            List<string> found = new List<string>();
            IEnumerable elements = vector as IEnumerable;
            if (elements == null || vector is string) return found;
            foreach (object one in elements) if (one is string) found.Add((string)one);
            return found;
        }

        private Answer Purge(string formatName)
        {
            object count = Sizes(formatName)[0];
            MessageQueue queue = Opened(formatName, QueueAccessMode.Receive, false);
            try
            {
                queue.Purge();
            }
            finally
            {
                queue.Close();
            }
            return new Answer().With("purged", count);
        }

        private MessageQueue Opened(string formatName, QueueAccessMode access, bool denyReceive)
        {
            MessageQueue queue = windows.Open(Formatted + formatName, access, denyReceive);
            Messages.Ask(queue);
            windows.AskForLookupId(queue);
            return queue;
        }

        // -- handles --------------------------------------------------------------------------------------------------

        private long Hold(Arguments given, Held one)
        {
            lock (given.Held)
            {
                if (given.Held.Count >= Limits.Held) throw new Refused(Limits.Held + " queues and cursors are open: close some");
                long number = Interlocked.Increment(ref last);
                given.Held[number] = one;
                return number;
            }
        }

        /// <summary>Close all objects that a conversation has open; their waiting reads end.</summary>
        public void CloseAll(Dictionary<long, Held> held)
        {
            List<Held> all;
            lock (held)
            {
                all = new List<Held>(held.Values);
                held.Clear();
            }
            foreach (Held one in all)
            {
                Held closed = one;
                if (closed.Own) Quietly(delegate { Close(closed); });
            }
        }

        private void Close(Held one)
        {
            lock (one)
            {
                one.Closing = true;
                End(one, one.Queue, delegate { return one.Readers == 0; });
            }
            one.Queue.Close();
        }

        // End the waiting reads of a queue. A read that has not begun to wait cannot be ended yet, so this is repeated.
        private bool End(object locked, MessageQueue queue, Func<bool> ended)
        {
            for (int tries = 0; tries < 20 && !ended(); tries++)
            {
                Quietly(delegate { windows.CancelReads(queue); });
                Monitor.Wait(locked, 100);
            }
            return ended();
        }

        private Held Find(Arguments given, string kind)
        {
            Held found;
            lock (given.Held)
            {
                if (given.Held.TryGetValue(given.Number(kind, 0, long.MaxValue), out found)
                    && (kind == "cursor") == (found.Cursor != null)) return found;
            }
            throw new Refused("no " + kind + " " + given.Number(kind, 0, long.MaxValue) + ": open the queue again, handles end with a restart");
        }

        private Answer Open(string formatName, Arguments given, string kind)
        {
            QueueAccessMode access = given.Has("access") ? given.OneOf("access", Accesses) : QueueAccessMode.Receive;
            MessageQueue queue = Opened(formatName, access, given.Flag("deny_receive", false));
            return new Answer().With(kind, Hold(given, new Held(queue, null, true)));
        }

        private Answer OpenToSend(Arguments given)
        {
            if (given.Flag("deny_receive", false))
                throw new Refused("open_to_send: MQ_ERROR_INVALID_PARAMETER (0xC00E0006): the right to receive cannot be denied");
            MessageQueue queue = windows.Open(Formatted + given.Text("to"), QueueAccessMode.Send, false);
            return new Answer().With("handle", Hold(given, new Held(queue, null, true)));
        }

        private Answer OpenCursor(Arguments given, string kind)
        {
            Held queue = Find(given, kind);
            return new Answer().With("cursor", Hold(given, new Held(queue.Queue, windows.OpenCursor(queue.Queue), false) { Whose = queue }));
        }

        private Answer Close(Arguments given, string kind)
        {
            Held one = Find(given, kind);
            lock (given.Held) given.Held.Remove(given.Number(kind, 0, long.MaxValue));
            if (one.Own) Close(one);
            else windows.CloseCursor(one.Cursor);
            return new Answer();
        }

        // -- messages -------------------------------------------------------------------------------------------------

        private Answer Send(Arguments given)
        {
            if (given.Has("body") && given.Has("body_base64"))
                throw new Refused("send: body and body_base64 are alternatives: give one of them");
            Work work = Chosen(given);
            bool transactional = given.Text("delivery", "express") == "transactional";
            MessageQueue queue = windows.At(Formatted + given.Text("to"));
            using (Message message = messages.Make(given))
            {
                try
                {
                    if (work != null)
                        work.Do<object>(
                            delegate { queue.Send(message, work.Internal); return null; },
                            delegate { queue.Send(message, MessageQueueTransactionType.Automatic); return null; });
                    else if (transactional) queue.Send(message, MessageQueueTransactionType.Single);
                    else queue.Send(message);
                }
                finally
                {
                    queue.Close();
                }
                return new Answer().With("message_id", Messages.Braced(message.Id));
            }
        }

        private Answer Read(Arguments given, Reading reading, bool peek, bool next)
        {
            TimeSpan timeout = given.IsNull("timeout_ms") ? MessageQueue.InfiniteTimeout
                : given.Has("timeout_ms") ? TimeSpan.FromMilliseconds(given.Number("timeout_ms", 0, uint.MaxValue)) : AtOnce;
            Work work = Chosen(given);
            string kind = given.Has("cursor") ? "cursor" : given.Has("handle") ? "handle" : given.Has("remote") ? "remote" : "queue";
            Held at = kind == "queue"
                ? new Held(Opened(Inside(given.Text("queue")), peek ? QueueAccessMode.Peek : QueueAccessMode.Receive, false), null, true)
                : Find(given, kind);
            Held queue = at.Whose ?? at;
            Enter(reading, queue);
            try
            {
                return new Answer().With("message", Read(at, reading, timeout, work, peek, next));
            }
            finally
            {
                Leave(reading, queue);
                if (kind == "queue") at.Queue.Close();
            }
        }

        private static void Enter(Reading reading, Held queue)
        {
            lock (queue)
            {
                if (queue.Closing) throw new Refused(Errors.Name(Errors.Cancelled));
                queue.Readers++;
            }
            lock (reading) reading.Queue = queue.Queue;
        }

        private static void Leave(Reading reading, Held queue)
        {
            lock (reading)
            {
                reading.Queue = null;
                Monitor.PulseAll(reading);
            }
            lock (queue)
            {
                queue.Readers--;
                Monitor.PulseAll(queue);
            }
        }

        // Canceling one read ends all reads that wait at its handle: the other reads begin again with their remaining time.
        private Answer Read(Held at, Reading reading, TimeSpan timeout, Work work, bool peek, bool next)
        {
            Stopwatch since = Stopwatch.StartNew();
            Held queue = at.Whose ?? at;
            while (true)
            {
                lock (reading) if (reading.Cancelled) throw new Refused(Errors.Name(Errors.Cancelled));
                try
                {
                    return Read(at, Left(timeout, since), work, peek, next);
                }
                catch (MessageQueueException error)
                {
                    if ((int)error.MessageQueueErrorCode != Errors.Cancelled || reading.Cancelled || queue.Closing) throw;
                }
            }
        }

        private static TimeSpan Left(TimeSpan timeout, Stopwatch since)
        {
            if (timeout == MessageQueue.InfiniteTimeout) return timeout;
            return since.Elapsed < timeout ? timeout - since.Elapsed : AtOnce;
        }

        private Answer Read(Held at, TimeSpan timeout, Work work, bool peek, bool next)
        {
            if (at.Cursor != null)
                return Shown(delegate
                {
                    return peek ? windows.PeekAt(at.Queue, at.Cursor, next, timeout)
                        : windows.ReceiveAt(at.Queue, at.Cursor, timeout, work);
                });
            if (peek) return Shown(delegate { return at.Queue.Peek(timeout); });
            if (work == null) return Shown(delegate { return at.Queue.Receive(timeout); });
            return work.Do<Answer>(
                delegate { return Shown(delegate { return at.Queue.Receive(timeout, work.Internal); }); },
                delegate { return Shown(delegate { return at.Queue.Receive(timeout, MessageQueueTransactionType.Automatic); }); });
        }

        // A read without a message in time is an answer, not an error.
        private Answer Shown(Func<Message> read)
        {
            try
            {
                using (Message message = read()) return message == null ? null : messages.Show(message);
            }
            catch (MessageQueueException error)
            {
                if ((int)error.MessageQueueErrorCode != Errors.IoTimeout) throw;
                return null;
            }
        }

        private Answer Lookup(Arguments given, bool peek)
        {
            Work work = Chosen(given);
            string kind = given.Has("handle") ? "handle" : given.Has("remote") ? "remote" : "queue";
            string seek = given.Text("seek", "current");
            long lookupId = given.Has("lookup_id") ? given.Number("lookup_id", 0, long.MaxValue) : 0;
            MessageQueue queue = kind == "queue"
                ? Opened(Inside(given.Text("queue")), peek ? QueueAccessMode.Peek : QueueAccessMode.Receive, false)
                : Find(given, kind).Queue;
            try
            {
                using (Message message = windows.Lookup(queue, seek, lookupId, peek, work))
                {
                    if (message == null) throw new Refused(Errors.Name(Errors.MessageNotFound));
                    return new Answer().With("message", messages.Show(message));
                }
            }
            finally
            {
                if (kind == "queue") queue.Close();
            }
        }

        private Answer Peek(Arguments given)
        {
            long limit = given.Has("limit") ? given.Number("limit", 0, 100000) : 100;
            MessageQueue queue = Opened(Inside(given.Text("queue")), QueueAccessMode.Peek, false);
            List<object> found = new List<object>();
            try
            {
#pragma warning disable 612, 618
                // Only the removal by the enumerator is obsolete; this code only reads.
                using (MessageEnumerator at = queue.GetMessageEnumerator())
#pragma warning restore 612, 618
                    while (found.Count < limit && at.MoveNext(AtOnce))
                        using (Message message = at.Current) found.Add(messages.Show(message));
            }
            finally
            {
                queue.Close();
            }
            return new Answer().With("messages", found);
        }

        private Answer RemotePurge(Arguments given)
        {
            Find(given, "remote").Queue.Purge();
            return new Answer();
        }

        private Answer Move(Arguments given)
        {
            long moved = windows.Move(given.Text("queue"), given.Number("lookup_id", 0, long.MaxValue), given.Text("to"), Chosen(given));
            return new Answer().With("lookup_id", moved);
        }

        private Answer Reject(Arguments given)
        {
            windows.Reject(given.Text("queue"), given.Number("lookup_id", 0, long.MaxValue), Named(given));
            return new Answer();
        }

        // -- transactions ---------------------------------------------------------------------------------------------

        private Answer Begin(Arguments given)
        {
            Guid identifier = given.Has("transaction") ? given.Identifier("transaction") : Guid.NewGuid();
            Work work = new Work(identifier, given.Flag("external", false));
            lock (gate)
            {
                if (works.Count >= Limits.Held) throw new Refused(Limits.Held + " transactions are open: end some");
                if (works.ContainsKey(identifier)) throw new Refused("transaction " + identifier + " exists already");
                works[identifier] = work;
            }
            return new Answer().With("transaction", identifier.ToString());
        }

        private Work Chosen(Arguments given) { return given.Has("transaction") ? Named(given) : null; }

        private Work Named(Arguments given)
        {
            Guid identifier = given.Identifier("transaction");
            Work work;
            lock (gate)
            {
                if (works.TryGetValue(identifier, out work)) return work;
            }
            throw new Refused("no transaction " + identifier + ": begin it, transactions end with a restart");
        }

        // System.Transactions prepares and commits in one step; the steps cannot be requested separately.
        private Answer Prepare(Arguments given)
        {
            if (!given.Flag("single_phase", false))
                throw new Unsupported("prepare: MSDTC lets no application stop between the two phases");
            return End(given, true);
        }

        private Answer End(Arguments given, bool commit)
        {
            Work work = Named(given);
            lock (gate) works.Remove(work.Identifier);
            if (work.External != null)
            {
                using (work.External)
                {
                    if (commit) work.External.Commit();
                    else work.External.Rollback();
                }
            }
            else if (commit) work.Internal.Commit();
            else work.Internal.Abort();
            return new Answer().With("outcome", commit ? "committed" : "aborted");
        }

        // -- outgoing queues ------------------------------------------------------------------------------------------

        // An outgoing queue exists while it is open, so it stays open while it is paused.
        private Answer Pause(Arguments given)
        {
            string to = given.Text("to"), key = to.ToUpperInvariant();
            lock (gate)
            {
                if (!paused.ContainsKey(key)) paused[key] = windows.Open(Formatted + to, QueueAccessMode.Send, false);
            }
            return Act("QUEUE=" + to, "PAUSE");
        }

        private Answer Resume(Arguments given)
        {
            string to = given.Text("to"), key = to.ToUpperInvariant();
            windows.Act("QUEUE=" + to, "RESUME");
            lock (gate)
            {
                MessageQueue queue;
                if (paused.TryGetValue(key, out queue)) queue.Close();
                paused.Remove(key);
            }
            return new Answer();
        }

        private Answer GetOutgoingQueue(Arguments given)
        {
            string to = given.Text("to"), listed = null;
            foreach (string name in Active())
                if (name.Equals(to, StringComparison.OrdinalIgnoreCase)) listed = name;
            List<object> found = new List<object>();
            if (listed == null) return new Answer().With("outgoing", found);
            int[] wanted = { State, NextHops, History, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23 };
            object[] values = windows.Manage("QUEUE=" + listed, wanted);
            Answer transfer = new Answer();
            for (int i = 0; i < Transfers.Length; i++) transfer[Transfers[i]] = Sequence(values[3 + i]);
            found.Add(new Answer().With("DestinationFormatName", listed).With("State", Spelled(values[0])).With("Active", true)
                .With("NextHops", Strings(values[1])).With("ConnectionHistory", Connections(values[2]))
                .With("OutgoingTransferInfo", transfer));
            return new Answer().With("outgoing", found);
        }

        // SEQUENCE_INFO: MS-MQMQ 2.2.5.1; any other value is unchanged, a missing value is 0.
        private static object Sequence(object value)
        {
            byte[] bytes = value as byte[];
            if (bytes == null) return value ?? 0;
            if (bytes.Length < 16) return new Answer().With("SeqID", 0).With("SeqNo", 0).With("PrevNo", 0);
            return new Answer().With("SeqID", BitConverter.ToInt64(bytes, 0)).With("SeqNo", BitConverter.ToUInt32(bytes, 8))
                .With("PrevNo", BitConverter.ToUInt32(bytes, 12));
        }

        private static List<object> Connections(object history)
        {
            List<object> found = new List<object>();
            object[] columns = history as object[];
            if (columns == null || columns.Length < 4) return found;
            object[] statuses = Column(columns[0]), times = Column(columns[1]), errors = Column(columns[2]), addresses = Column(columns[3]);
            for (int i = 0; i < statuses.Length && i < times.Length && i < errors.Length; i++)
            {
                long status = Convert.ToInt64(statuses[i], CultureInfo.InvariantCulture) & 0xFFFFFFFF;
                object[] there = i < addresses.Length ? addresses[i] as object[] : null;
                found.Add(new Answer().With("Status", Status(status)).With("ConnectionHistoryTime", times[i])
                    .With("Error", Convert.ToInt64(errors[i], CultureInfo.InvariantCulture) & 0xFFFFFFFF)
                    .With("AddressList", there == null ? "" : string.Join(" ", Strings(there))));
            }
            return found;
        }

        private static string Status(long number)
        {
            if (number < Progress.Length) return Progress[number];
            long failure = number - 0x80000000L;
            return failure >= 0 && failure < Failures.Length ? Failures[failure] : "0x" + number.ToString("X8");
        }

        private static object[] Column(object value) { return value as object[] ?? new object[0]; }

        private Answer GetTransfers(Arguments given)
        {
            string[] names = { "FormatName", "SenderIdentifier", "SequenceIdentifier", "SequenceNumber", "LastAccessTime", "RejectCount" };
            object[] columns = windows.Manage("QUEUE=" + Inside(given.Text("queue")), new[] { SourceInfo })[0] as object[];
            List<object> found = new List<object>();
            if (columns == null || columns.Length < names.Length) return new Answer().With("transfers", found);
            for (int i = 0; i < Column(columns[0]).Length; i++)
            {
                Answer one = new Answer();
                for (int j = 0; j < names.Length; j++)
                    if (i < Column(columns[j]).Length) one[names[j]] = Column(columns[j])[i] is Guid ? Column(columns[j])[i].ToString() : Column(columns[j])[i];
                found.Add(one);
            }
            return new Answer().With("transfers", found);
        }

        /// <summary>End a read that waits or will wait; return whether it has ended.</summary>
        public bool Cancel(Reading reading)
        {
            lock (reading)
            {
                reading.Cancelled = true;
                return reading.Queue == null || End(reading, reading.Queue, delegate { return reading.Queue == null; });
            }
        }
    }

    /// <summary>One connection: it receives and sends lines; waiting requests are answered when they are done.</summary>
    public sealed class Channel
    {
        private readonly Agent agent;
        private readonly Stream output;
        private readonly object writing = new object();
        private readonly Dictionary<long, Reading> waiting = new Dictionary<long, Reading>();
        private readonly Dictionary<long, Held> held = new Dictionary<long, Held>();
        private static readonly Encoding Utf8 = new UTF8Encoding(false, false);

        /// <summary>Whether a request to stop the agent was received.</summary>
        public volatile bool Stopped;

        private volatile bool broken;

        public Channel(Agent agent, Stream output)
        {
            this.agent = agent;
            this.output = output;
        }

        /// <summary>Handle lines until the stream ends, a line is too long, or a stop is requested.</summary>
        public void Serve(Stream input)
        {
            byte[] chunk = new byte[65536];
            MemoryStream line = new MemoryStream();
            int count;
            while (!Stopped && !broken && (count = input.Read(chunk, 0, chunk.Length)) > 0)
            {
                for (int i = 0; i < count && !Stopped; i++)
                {
                    if (chunk[i] == '\n')
                    {
                        Take(Utf8.GetString(line.GetBuffer(), 0, (int)line.Length));
                        line.SetLength(0);
                    }
                    else if (line.Length < Limits.LineBytes) line.WriteByte(chunk[i]);
                    else
                    {
                        Reply(null, null, new Refused("a line longer than " + Limits.LineBytes + " bytes"));
                        return;
                    }
                }
            }
        }

        /// <summary>End the conversation: its waiting reads are canceled, and the objects that it opened are closed.</summary>
        public void End()
        {
            List<Reading> all;
            lock (waiting) all = new List<Reading>(waiting.Values);
            foreach (Reading one in all) agent.Cancel(one);
            agent.CloseAll(held);
        }

        /// <summary>Handle one line; an empty line is ignored.</summary>
        public void Take(string line)
        {
            line = line.TrimStart('\uFEFF');
            if (string.IsNullOrWhiteSpace(line)) return;
            object id = null;
            try
            {
                Dictionary<string, object> request = Json.Read(line) as Dictionary<string, object>;
                if (request == null || !request.TryGetValue("id", out id) || !(id is long))
                    throw new Refused("not a JSON object with an id that is a number");
                object verb;
                if (!request.TryGetValue("verb", out verb) || !(verb is string)) throw new Refused("no verb");
                request.Remove("id");
                request.Remove("verb");
                Carry((long)id, (string)verb, new Arguments((string)verb, request, held));
            }
            catch (FormatException error)
            {
                Reply(id, null, new Refused("no JSON: " + error.Message));
            }
            catch (Refused error)
            {
                Reply(id, null, error);
            }
        }

        private void Carry(long id, string name, Arguments given)
        {
            Verb verb;
            if (name == "stop") { Stopped = true; Reply(id, new Answer(), null); return; }
            if (name == "cancel") { Reply(id, Cancel(given), null); return; }
            if (!agent.Verbs.TryGetValue(name, out verb)) throw new Unsupported("the Windows agent has no verb '" + name + "'");
            foreach (string argument in given.Names)
                if (!verb.Takes.Contains(argument)) throw new Unsupported("" + name + " takes no '" + argument + "' here");
            Reading reading = new Reading();
            if (!MayWait(name, verb, given))
            {
                Finish(id, verb, given, reading);
                return;
            }
            lock (waiting)
            {
                if (waiting.Count >= Limits.Waiting) throw new Refused(Limits.Waiting + " requests wait already: cancel some");
                waiting[id] = reading;
            }
            Thread thread = new Thread(delegate() { Finish(id, verb, given, reading); }, 256 * 1024);
            thread.IsBackground = true;
            thread.Start();
        }

        // Requests to another queue manager may wait longer than the requested timeout.
        private static bool MayWait(string name, Verb verb, Arguments given)
        {
            if (name.StartsWith("remote_", StringComparison.Ordinal)) return true;
            if (!verb.Waits) return false;
            return given.IsNull("timeout_ms") || (given.Has("timeout_ms") && given.Number("timeout_ms", 0, uint.MaxValue) > 0);
        }

        // Every exception of a verb (from MSMQ, COM or the framework) becomes a refusal, and the agent continues.
        private void Finish(long id, Verb verb, Arguments given, Reading reading)
        {
            Answer answer = null;
            Exception error = null;
            try
            {
                answer = verb.Run(given, reading);
            }
            catch (Exception wrong)
            {
                error = wrong;
            }
            lock (waiting) waiting.Remove(id);
            Reply(id, answer, error);
        }

        private Answer Cancel(Arguments given)
        {
            Reading reading;
            long request = given.Number("request", 0, long.MaxValue);
            lock (waiting)
            {
                if (!waiting.TryGetValue(request, out reading)) throw new Refused("cancel: no request " + request + " waits");
            }
            if (!agent.Cancel(reading)) throw new Refused("cancel: MSMQ does not end the read of request " + request);
            lock (waiting) waiting.Remove(request); // its answer may not have been sent yet
            return new Answer().With("cancelled", true);
        }

        private void Reply(object id, Answer answer, Exception error)
        {
            Answer line = new Answer().With("id", id).With("ok", error == null);
            if (error is Unsupported) line["unsupported"] = true;
            if (error != null) line["error"] = Errors.Say(error);
            else foreach (KeyValuePair<string, object> one in answer) line[one.Key] = one.Value;
            byte[] bytes = Encoding.ASCII.GetBytes(Json.Write(line) + "\n");
            lock (writing)
            {
                try
                {
                    output.Write(bytes, 0, bytes.Length);
                    output.Flush();
                }
                catch (IOException)
                {
                    broken = true;
                }
                catch (ObjectDisposedException)
                {
                    broken = true;
                }
            }
        }
    }

    /// <summary>The start of the agent: on standard streams, or on a port of 127.0.0.1.</summary>
    public static class Program
    {
        public static int Main(string[] arguments) { return Run(arguments, new OnWindows()); }

        /// <summary>No argument: standard streams; one: a port of 127.0.0.1. The exit code is 2 for anything else.</summary>
        public static int Run(string[] arguments, IWindowsOnly windows)
        {
            ushort port = 0;
            if (arguments.Length > 1 || (arguments.Length == 1 && !ushort.TryParse(arguments[0], out port)))
            {
                Console.Error.WriteLine("usage: MsmqAgent [PORT]: without a port of 127.0.0.1 it speaks on its standard streams");
                return 2;
            }
            // Resources of the framework in English, on every thread.
            CultureInfo.DefaultThreadCurrentUICulture = CultureInfo.InvariantCulture;
            // PowerShell calls from a single-threaded apartment; COM objects that are created there would be bound to it.
            Thread serving = new Thread(delegate() { Serve(arguments.Length == 1, port, windows); });
            serving.SetApartmentState(ApartmentState.MTA);
            serving.Start();
            serving.Join();
            return 0;
        }

        private static void Serve(bool listening, int port, IWindowsOnly windows)
        {
            try
            {
                if (listening) Listen(port, windows);
                else
                {
                    Channel channel = OnStandardStreams(windows);
                    channel.Serve(Console.OpenStandardInput());
                    channel.End();
                }
            }
            finally
            {
                windows.GiveBack();
            }
        }

        // A channel to the standard output, to which no other code may write afterwards.
        private static Channel OnStandardStreams(IWindowsOnly windows)
        {
            Stream output = Console.OpenStandardOutput();
            Console.SetOut(Console.Error);
            return new Channel(new Agent(windows), output);
        }

        /// <summary>Serve connections to a port of 127.0.0.1 until one of them requests a stop; port 0 selects a free port.</summary>
        private static void Listen(int port, IWindowsOnly windows)
        {
            Agent agent = new Agent(windows);
            TcpListener listener = new TcpListener(IPAddress.Loopback, port);
            listener.Start();
            Console.Error.WriteLine("ready 127.0.0.1:" + ((IPEndPoint)listener.LocalEndpoint).Port);
            Console.SetOut(Console.Error);
            SemaphoreSlim room = new SemaphoreSlim(Limits.Connections);
            ManualResetEvent stop = new ManualResetEvent(false);
            Thread accepting = new Thread(delegate() { Accept(listener, agent, room, stop); });
            accepting.IsBackground = true;
            accepting.Start();
            stop.WaitOne();
            listener.Stop();
        }

        private static void Accept(TcpListener listener, Agent agent, SemaphoreSlim room, ManualResetEvent stop)
        {
            while (true)
            {
                room.Wait();
                TcpClient client;
                try
                {
                    client = listener.AcceptTcpClient();
                }
                catch (SocketException)
                {
                    stop.Set();
                    return;
                }
                client.NoDelay = true;
                Thread serving = new Thread(delegate() { Serve(client, agent, room, stop); });
                serving.IsBackground = true;
                serving.Start();
            }
        }

        private static void Serve(TcpClient client, Agent agent, SemaphoreSlim room, ManualResetEvent stop)
        {
            try
            {
                using (client)
                {
                    Channel channel = new Channel(agent, client.GetStream());
                    try
                    {
                        channel.Serve(client.GetStream());
                    }
                    finally
                    {
                        channel.End();
                    }
                    if (channel.Stopped) stop.Set();
                }
            }
            catch (IOException error)
            {
                Console.Error.WriteLine("a connection ended: " + error.Message);
            }
            finally
            {
                room.Release();
            }
        }
    }

    /// <summary>
    /// Windows itself: members of System.Messaging that Mono lacks, by late binding, mqrt.dll, the registry, services.
    /// In the tests of mqconform it calls stand-ins that record the calls (docs/windows.md, "What was run, and what was not").
    /// </summary>
    public sealed class OnWindows : IWindowsOnly
    {
        private const string Parameters = @"SOFTWARE\Microsoft\MSMQ\Parameters";
        private const BindingFlags Any = BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic;
        private static readonly Assembly Messaging = typeof(MessageQueue).Assembly;
        private const string QueueManager = "MSMQ", Coordinator = "MSDTC";
        // The longest time for a service to start or stop: a queue manager first reads its store, which may be large.
        private static readonly TimeSpan ServiceTimeout = TimeSpan.FromMinutes(10);
        private static readonly Dictionary<string, string> Seeks = new Dictionary<string, string>
        {
            { "current", "Current" }, { "next", "Next" }, { "previous", "Previous" }, { "first", "First" }, { "last", "Last" }
        };

        // -- what the machine is --------------------------------------------------------------------------------------

        public Guid Identifier()
        {
            byte[] found = Registered(Parameters + @"\MachineCache", "QMId") as byte[];
            if (found == null || found.Length != 16) throw new Refused(@"HKLM\" + Parameters + @"\MachineCache has no QMId: install MSMQ");
            return new Guid(found);
        }

        public Answer Product()
        {
            const string windows = @"SOFTWARE\Microsoft\Windows NT\CurrentVersion";
            string library = System.IO.Path.Combine(Environment.SystemDirectory, "mqqm.dll");
            // The environment reports version 6.2 to a program that does not declare the releases that it supports.
            object major = Registered(windows, "CurrentMajorVersionNumber");
            string version = (major == null ? Registered(windows, "CurrentVersion") : major + "." + Registered(windows, "CurrentMinorVersionNumber"))
                + "." + Registered(windows, "CurrentBuild") + "." + (Registered(windows, "UBR") ?? 0);
            if (File.Exists(library)) version += ", mqqm.dll " + FileVersionInfo.GetVersionInfo(library).ProductVersion;
            return new Answer().With("name", Environment.MachineName).With("vendor", "Microsoft").With("version", version);
        }

        private static object Registered(string key, string name)
        {
            using (RegistryKey machine = RegistryKey.OpenBaseKey(RegistryHive.LocalMachine, RegistryView.Registry64))
            using (RegistryKey found = machine.OpenSubKey(key))
                return found == null ? null : found.GetValue(name);
        }

        public bool Runs(string service)
        {
            using (ServiceController controller = new ServiceController(service))
                return controller.Status == ServiceControllerStatus.Running;
        }

        public void Run(string service, bool run)
        {
            using (ServiceController controller = new ServiceController(service))
            {
                // MSMQ and System.Transactions start MSDTC when they need it, so it is disabled while it is taken away.
                if (service == Coordinator) SetStart(controller, run);
                if (run != (controller.Status == ServiceControllerStatus.Running))
                {
                    if (run) controller.Start();
                    else controller.Stop();
                    controller.WaitForStatus(run ? ServiceControllerStatus.Running : ServiceControllerStatus.Stopped, ServiceTimeout);
                }
            }
            if (run && service == QueueManager) WaitUntilReady();
        }

        // The service is running before its queue manager accepts calls.
        private void WaitUntilReady()
        {
            Stopwatch since = Stopwatch.StartNew();
            while (true)
            {
                try
                {
                    Manage("MACHINE", new[] { 1 });
                    return;
                }
                catch (Refused)
                {
                    if (since.Elapsed > ServiceTimeout) throw;
                }
                Thread.Sleep(100);
            }
        }

        private const int Unchanged = -1, OnDemand = 3, Disabled = 4;
        private int? former;

        // The start type of a service: disabled while it is taken away, then as before, or on demand if that is unknown.
        private void SetStart(ServiceController controller, bool startable)
        {
            int now = (int)(Registered(@"SYSTEM\CurrentControlSet\Services\" + controller.ServiceName, "Start") ?? OnDemand);
            if (startable != (now == Disabled)) return;
            if (!startable) former = now;
            using (SafeHandle service = controller.ServiceHandle)
                if (!ChangeServiceConfig(service, Unchanged, startable ? former ?? OnDemand : Disabled, Unchanged, null, null, IntPtr.Zero, null, null, null, null))
                    throw new Win32Exception(Marshal.GetLastWin32Error());
        }

        /// <summary>Services that were taken away are restored when the agent ends.</summary>
        public void GiveBack()
        {
            if (former.HasValue) Run(Coordinator, true);
        }

        // Dependent services are stopped as well; those that were running are started again.
        public void Restart(string service)
        {
            List<string> others = new List<string>();
            using (ServiceController controller = new ServiceController(service))
                foreach (ServiceController other in controller.DependentServices)
                    if (other.Status == ServiceControllerStatus.Running) others.Add(other.ServiceName);
            Run(service, false);
            Run(service, true);
            foreach (string other in others) Run(other, true);
        }

        // -- members of System.Messaging ------------------------------------------------------------------------------

        public MessageQueue At(string path) { return new MessageQueue(path); }

        public MessageQueue Open(string path, QueueAccessMode access, bool denyReceive)
        {
            MessageQueue queue = new MessageQueue(path, access);
            queue.DenySharedReceive = denyReceive;
            // Reading the handle opens the queue; refusals occur only then.
            IntPtr handle = access == QueueAccessMode.Send ? queue.WriteHandle : queue.ReadHandle;
            if (handle == IntPtr.Zero) throw new Refused("the queue has no handle");
            return queue;
        }

        public string FormatName(MessageQueue queue) { return queue.FormatName; }

        // The rights to send to a queue and to read it, as in provision.ps1: MSMQ grants no rights if it is integrated with a
        // directory. Groups have other names in other languages.
        public void Grant(MessageQueue queue)
        {
            const MessageQueueAccessRights send = MessageQueueAccessRights.WriteMessage;
            const MessageQueueAccessRights all = send | MessageQueueAccessRights.ReceiveMessage
                | MessageQueueAccessRights.PeekMessage | MessageQueueAccessRights.GetQueueProperties;
            bool anonymousReads = 1.Equals(Registered(Parameters + @"\Security", "AllowNonauthenticatedRpc"));
            queue.SetPermissions(Account(WellKnownSidType.WorldSid), all);
            queue.SetPermissions(Account(WellKnownSidType.AnonymousSid), anonymousReads ? all : send);
        }

        private static string Account(WellKnownSidType group)
        {
            return new SecurityIdentifier(group, null).Translate(typeof(NTAccount)).Value;
        }

        public string GetLabel(MessageQueue queue) { return queue.Label; }

        public void SetLabel(MessageQueue queue, string label) { queue.Label = label; }

        public object OpenCursor(MessageQueue queue) { return Call(queue, "CreateCursor"); }

        public void CloseCursor(object cursor) { Call(cursor, "Close"); }

        public Message PeekAt(MessageQueue queue, object cursor, bool next, TimeSpan timeout)
        {
            return (Message)Call(queue, "Peek", timeout, cursor, Word("PeekAction", next ? "Next" : "Current"));
        }

        public Message ReceiveAt(MessageQueue queue, object cursor, TimeSpan timeout, Work work)
        {
            if (work == null) return (Message)Call(queue, "Receive", timeout, cursor);
            return work.Do<Message>(
                delegate { return (Message)Call(queue, "Receive", timeout, cursor, work.Internal); },
                delegate { return (Message)Call(queue, "Receive", timeout, cursor, MessageQueueTransactionType.Automatic); });
        }

        public Message Lookup(MessageQueue queue, string seek, long lookupId, bool peek, Work work)
        {
            string name;
            if (!Seeks.TryGetValue(seek, out name)) throw new Refused("seek must be one of " + string.Join(", ", Seeks.Keys));
            object action = Word("MessageLookupAction", name);
            try
            {
                if (peek) return (Message)Call(queue, "PeekByLookupId", action, lookupId);
                if (work == null) return (Message)Call(queue, "ReceiveByLookupId", action, lookupId, MessageQueueTransactionType.None);
                return work.Do<Message>(
                    delegate { return (Message)Call(queue, "ReceiveByLookupId", action, lookupId, work.Internal); },
                    delegate { return (Message)Call(queue, "ReceiveByLookupId", action, lookupId, MessageQueueTransactionType.Automatic); });
            }
            catch (InvalidOperationException error)
            {
                // System.Messaging throws this type, without a number, if no such message exists.
                if (error.GetType() != typeof(InvalidOperationException)) throw;
                return null;
            }
        }

        // This ends all I/O of this process at the handle, in every thread; the handle stays open.
        public void CancelReads(MessageQueue queue)
        {
            const int nothingThere = 1168;
            if (CancelIoEx(queue.ReadHandle, IntPtr.Zero)) return;
            int error = Marshal.GetLastWin32Error();
            if (error != nothingThere) throw new Refused("cancel: error " + error + " of Windows");
        }

        public long? LookupId(Message message)
        {
            PropertyInfo property = typeof(Message).GetProperty("LookupId");
            if (property == null) return null;
            try
            {
                return (long)property.GetValue(message, null);
            }
            catch (TargetInvocationException)
            {
                return null; // the property was not requested
            }
        }

        public Guid? Source(Message message)
        {
            byte[] found = Call(Properties(message), "GetGuid", 30) as byte[];
            return found == null || found.Length != 16 ? (Guid?)null : new Guid(found);
        }

        public void SetProperty(Message message, int property, int value) { Call(Properties(message), "SetUI4", property, value); }

        // The properties of a message, of which System.Messaging shows only a part.
        private static object Properties(Message message)
        {
            FieldInfo field = typeof(Message).GetField("properties", Any);
            if (field == null) throw new Unsupported("this System.Messaging keeps its properties elsewhere");
            return field.GetValue(message);
        }

        public void AskForLookupId(MessageQueue queue)
        {
            PropertyInfo property = typeof(MessagePropertyFilter).GetProperty("LookupId");
            if (property != null) property.SetValue(queue.MessageReadPropertyFilter, true, null);
        }

        private static object Word(string type, string name)
        {
            Type found = Messaging.GetType("System.Messaging." + type);
            if (found == null) throw new Unsupported("this System.Messaging has no " + type);
            return Enum.Parse(found, name);
        }

        private static object Call(object target, string name, params object[] arguments)
        {
            try
            {
                return target.GetType().InvokeMember(name, Any | BindingFlags.InvokeMethod, null, target, arguments, CultureInfo.InvariantCulture);
            }
            catch (MissingMethodException)
            {
                throw new Unsupported("" + target.GetType().Name + " has no " + name + " here");
            }
            catch (TargetInvocationException error)
            {
                ExceptionDispatchInfo.Capture(error.InnerException).Throw();
                throw;
            }
        }

        // -- mqrt.dll -------------------------------------------------------------------------------------------------

        public void Act(string target, string action) { Errors.Check(MQMgmtAction(null, target, action), action + " of " + target); }

        public object[] Manage(string target, int[] properties)
        {
            int size = 8 + 2 * IntPtr.Size;
            IntPtr values = Marshal.AllocHGlobal(size * properties.Length), identifiers = Marshal.AllocHGlobal(4 * properties.Length);
            IntPtr statuses = Marshal.AllocHGlobal(4 * properties.Length);
            try
            {
                Marshal.Copy(new byte[size * properties.Length], 0, values, size * properties.Length);
                Marshal.Copy(properties, 0, identifiers, properties.Length);
                for (int i = 0; i < properties.Length; i++) Marshal.WriteInt16(values, i * size, Variants.Null);
                ManagementProperties asked = new ManagementProperties();
                asked.Count = properties.Length;
                asked.Identifiers = identifiers;
                asked.Values = values;
                asked.Statuses = statuses;
                Errors.Check(MQMgmtGetInfo(null, target, ref asked), "properties of " + target);
                object[] found = new object[properties.Length];
                for (int i = 0; i < properties.Length; i++) found[i] = Variants.Read(new IntPtr(values.ToInt64() + i * size), 0);
                return found;
            }
            finally
            {
                for (int i = 0; i < properties.Length; i++) Variants.Free(new IntPtr(values.ToInt64() + i * size), 0, MQFreeMemory);
                Marshal.FreeHGlobal(values);
                Marshal.FreeHGlobal(identifiers);
                Marshal.FreeHGlobal(statuses);
            }
        }

        public long Move(string queue, long lookupId, string to, Work work)
        {
            const int receive = 1, move = 4;
            IntPtr source = IntPtr.Zero, target = IntPtr.Zero;
            try
            {
                Errors.Check(MQOpenQueue(@"DIRECT=OS:.\" + queue, receive, 0, out source), "open " + queue);
                Errors.Check(MQOpenQueue(@"DIRECT=OS:.\" + to, move, 0, out target), "open " + to);
                if (work == null) Errors.Check(MQMoveMessage(source, target, unchecked((ulong)lookupId), null), "move");
                else work.Do<int>(
                    delegate { return Move(source, target, lookupId, Inner(work.Internal)); },
                    delegate { return Move(source, target, lookupId, TransactionInterop.GetDtcTransaction(Transaction.Current)); });
                return lookupId;
            }
            finally
            {
                if (target != IntPtr.Zero) MQCloseQueue(target);
                if (source != IntPtr.Zero) MQCloseQueue(source);
            }
        }

        private static int Move(IntPtr source, IntPtr target, long lookupId, IDtcTransaction transaction)
        {
            Errors.Check(MQMoveMessage(source, target, unchecked((ulong)lookupId), transaction), "move");
            return 0;
        }

        // The ITransaction that MSMQ began. IDtcTransaction is the same interface of COM (0fb15084-af41-11ce-bd2b-204c4f4f5020).
        private static IDtcTransaction Inner(MessageQueueTransaction transaction)
        {
            PropertyInfo property = typeof(MessageQueueTransaction).GetProperty("InnerTransaction", Any);
            if (property == null) throw new Unsupported("this System.Messaging keeps its transaction elsewhere");
            return (IDtcTransaction)property.GetValue(transaction, null);
        }

        // MQMarkMessageRejected takes no transaction: it uses the MSDTC transaction in whose scope it is called. The message was
        // received in it before, and is acknowledged as rejected when it commits.
        public void Reject(string queue, long lookupId, Work work)
        {
            if (work.External == null) throw new Unsupported("reject: MSMQ rejects within transactions of MSDTC only (begin with external)");
            IntPtr source;
            Errors.Check(MQOpenQueue(@"DIRECT=OS:.\" + queue, 1, 0, out source), "open " + queue);
            try
            {
                work.Do<int>(null, delegate { return Mark(source, lookupId); });
            }
            finally
            {
                MQCloseQueue(source);
            }
        }

        private static int Mark(IntPtr source, long lookupId)
        {
            Errors.Check(MQMarkMessageRejected(source, unchecked((ulong)lookupId)), "reject");
            return 0;
        }

        [StructLayout(LayoutKind.Sequential)]
        private struct ManagementProperties
        {
            public int Count;
            public IntPtr Identifiers;
            public IntPtr Values;
            public IntPtr Statuses;
        }

        [DllImport("mqrt.dll", CharSet = CharSet.Unicode)]
        private static extern int MQMgmtAction(string machine, string target, string action);

        [DllImport("mqrt.dll", CharSet = CharSet.Unicode)]
        private static extern int MQMgmtGetInfo(string machine, string target, ref ManagementProperties properties);

        [DllImport("mqrt.dll", CharSet = CharSet.Unicode)]
        private static extern int MQOpenQueue(string formatName, int access, int share, out IntPtr handle);

        [DllImport("mqrt.dll")]
        private static extern int MQCloseQueue(IntPtr handle);

        [DllImport("mqrt.dll")]
        private static extern int MQMoveMessage(IntPtr source, IntPtr target, ulong lookupId, IDtcTransaction transaction);

        [DllImport("mqrt.dll")]
        private static extern void MQFreeMemory(IntPtr memory);

        [DllImport("kernel32.dll", SetLastError = true)]
        private static extern bool CancelIoEx(IntPtr handle, IntPtr overlapped);

        [DllImport("advapi32.dll", SetLastError = true, CharSet = CharSet.Unicode, EntryPoint = "ChangeServiceConfigW")]
        private static extern bool ChangeServiceConfig(
            SafeHandle service, int type, int start, int errors, string path, string group, IntPtr tag, string needs, string user,
            string password, string name);

        [DllImport("mqrt.dll")]
        private static extern int MQMarkMessageRejected(IntPtr queue, ulong lookupId);
    }

    /// <summary>PROPVARIANTs in memory: those of MS-MQMQ 2.2.13 that the management API returns.</summary>
    public static class Variants
    {
        public const short Null = 1;
        private const int Vector = 0x1000, MostElements = 100000, Deepest = 3;

        /// <summary>The bytes of an element of a vector, by its type.</summary>
        private static readonly Dictionary<int, int> Sizes = new Dictionary<int, int>
        {
            { 2, 2 }, { 3, 4 }, { 10, 4 }, { 11, 2 }, { 12, 8 + 2 * IntPtr.Size }, { 17, 1 }, { 18, 2 }, { 19, 4 }, { 20, 8 },
            { 21, 8 }, { 31, IntPtr.Size }, { 72, 16 }
        };

        /// <summary>Read the variant at an address: numbers, string, byte[], Guid, object[] or null.</summary>
        public static object Read(IntPtr at, int depth)
        {
            int type = Marshal.ReadInt16(at) & 0xFFFF;
            IntPtr value = new IntPtr(at.ToInt64() + 8);
            if (depth > Deepest) throw new Refused("a property nested deeper than " + Deepest);
            if (type == 65) return Blob(value);
            if (type == 72) return Element(72, Marshal.ReadIntPtr(value), depth);
            if ((type & Vector) == 0) return Element(type, value, depth);
            uint count = unchecked((uint)Marshal.ReadInt32(value));
            IntPtr first = Marshal.ReadIntPtr(value, IntPtr.Size);
            int size;
            if (count > MostElements) throw new Refused("a property with " + count + " elements");
            if (!Sizes.TryGetValue(type & ~Vector, out size)) throw new Refused("a property of the type " + type);
            object[] found = new object[count];
            for (int i = 0; i < found.Length; i++) found[i] = Element(type & ~Vector, new IntPtr(first.ToInt64() + (long)i * size), depth);
            return found;
        }

        /// <summary>Free what MSMQ allocated for the variant at an address: first the elements, then their container.</summary>
        public static void Free(IntPtr at, int depth, Action<IntPtr> free)
        {
            int type = Marshal.ReadInt16(at) & 0xFFFF, element = type & ~Vector, size;
            IntPtr value = new IntPtr(at.ToInt64() + 8);
            if (type == 31 || type == 72) Free(Marshal.ReadIntPtr(value), free);
            if (type == 65) Free(Marshal.ReadIntPtr(value, IntPtr.Size), free);
            if ((type & Vector) == 0 || depth > Deepest || !Sizes.TryGetValue(element, out size)) return;
            IntPtr first = Marshal.ReadIntPtr(value, IntPtr.Size);
            uint count = unchecked((uint)Marshal.ReadInt32(value));
            for (uint i = 0; i < count; i++)
            {
                IntPtr one = new IntPtr(first.ToInt64() + (long)i * size);
                if (element == 31) Free(Marshal.ReadIntPtr(one), free);
                if (element == 12) Free(one, depth + 1, free);
            }
            Free(first, free);
        }

        private static void Free(IntPtr memory, Action<IntPtr> free)
        {
            if (memory != IntPtr.Zero) free(memory);
        }

        private static byte[] Blob(IntPtr value)
        {
            int count = Marshal.ReadInt32(value);
            if (count < 0 || count > MostElements) throw new Refused("a property of " + count + " bytes");
            byte[] found = new byte[count];
            if (count > 0) Marshal.Copy(Marshal.ReadIntPtr(value, IntPtr.Size), found, 0, count);
            return found;
        }

        private static object Element(int type, IntPtr at, int depth)
        {
            switch (type)
            {
                case 0:
                case 1: return null;
                case 2: return (int)Marshal.ReadInt16(at);
                case 3:
                case 10: return Marshal.ReadInt32(at);
                case 11: return Marshal.ReadInt16(at) != 0;
                case 12: return Read(at, depth + 1);
                case 17: return (int)Marshal.ReadByte(at);
                case 18: return (int)unchecked((ushort)Marshal.ReadInt16(at));
                case 19: return unchecked((uint)Marshal.ReadInt32(at));
                case 20:
                case 21: return Marshal.ReadInt64(at);
                case 31: return Marshal.PtrToStringUni(Marshal.ReadIntPtr(at));
                case 72:
                    byte[] guid = new byte[16];
                    Marshal.Copy(at, guid, 0, 16);
                    return new Guid(guid);
                default: throw new Refused("a property of the type " + type);
            }
        }
    }
}
