// System.ServiceProcess as Windows has it, in the members that MsmqAgent.cs uses: services that only record what is asked
// of them. Signatures are those of microsoft/referencesource (ec9fa9ae), ServiceController.cs.

using System;
using System.Collections.Generic;
using System.IO;
using System.Runtime.InteropServices;

namespace System.ServiceProcess
{
    public enum ServiceControllerStatus { Stopped = 1, Running = 4 }

    internal sealed class Handle : SafeHandle
    {
        public Handle() : base(IntPtr.Zero, true) { SetHandle(new IntPtr(99)); }
        public override bool IsInvalid { get { return false; } }
        protected override bool ReleaseHandle() { ServiceController.Record("handle closed"); return true; }
    }

    public class ServiceController : IDisposable
    {
        private static readonly HashSet<string> stopped = new HashSet<string>();

        public ServiceController(string name) { ServiceName = name; }
        public string ServiceName { get; private set; }
        public SafeHandle ServiceHandle { get { return new Handle(); } }

        public ServiceControllerStatus Status
        {
            get { return stopped.Contains(ServiceName) ? ServiceControllerStatus.Stopped : ServiceControllerStatus.Running; }
        }

        public ServiceController[] DependentServices
        {
            get { return ServiceName == "MSMQ" ? new[] { new ServiceController("MSMQTriggers") } : new ServiceController[0]; }
        }

        public void Start() { Record(ServiceName + " Start"); stopped.Remove(ServiceName); }

        public void Stop()
        {
            Record(ServiceName + " Stop");
            stopped.Add(ServiceName);
            foreach (ServiceController one in DependentServices) stopped.Add(one.ServiceName);
        }

        public void WaitForStatus(ServiceControllerStatus status, TimeSpan timeout)
        {
            if (Status != status) throw new InvalidOperationException(ServiceName + " is " + Status);
            Record(ServiceName + " WaitForStatus " + status);
        }

        public void Dispose() { }

        internal static void Record(string said)
        {
            File.AppendAllText(Environment.GetEnvironmentVariable("MQ_RECORD"), "service: " + said + "\n");
        }
    }
}
