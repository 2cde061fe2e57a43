#Requires -Version 5.1
<#
.SYNOPSIS
    Starts the agent of mqconform on this machine: MsmqAgent.cs, which lies beside this script, is compiled in memory.
.DESCRIPTION
    Without a parameter it speaks the control protocol on its standard streams, so that any remote shell carries it:
        ssh HOST powershell -NoProfile -ExecutionPolicy Bypass -File C:\mqconform\agent.ps1
    With -Port it listens on that port of 127.0.0.1, and nowhere else. With -BuildTo it only writes a program that does
    both without PowerShell: MsmqAgent.exe [PORT].
#>
[CmdletBinding(DefaultParameterSetName = 'Streams')]
param(
    # What PowerShell reads of its standard input, line by line: PowerShell has it, the agent cannot read it itself.
    [Parameter(ParameterSetName = 'Streams', ValueFromPipeline = $true)]
    [AllowEmptyString()]
    [string] $Line,

    [Parameter(ParameterSetName = 'Port', Mandatory = $true)]
    [ValidateRange(1, 65535)]
    [int] $Port,

    [Parameter(ParameterSetName = 'Build', Mandatory = $true)]
    [ValidateNotNullOrEmpty()]
    [string] $BuildTo
)

begin {
    $ErrorActionPreference = 'Stop'
    $ProgressPreference = 'SilentlyContinue'
    if ($PSVersionTable.PSVersion.Major -ne 5) {
        throw 'System.Messaging is a part of .NET Framework: start this with powershell.exe (5.1), not with pwsh.exe'
    }
    if ($PSCmdlet.ParameterSetName -eq 'Streams' -and -not [Console]::IsInputRedirected) {
        throw 'nobody speaks to the standard input: start it through ssh, or give -Port'
    }
    Add-Type -AssemblyName 'System.Messaging', 'System.Transactions', 'System.ServiceProcess'
    $known = [System.Messaging.MessageQueue], [System.Transactions.Transaction],
        [System.ServiceProcess.ServiceController], [System.Collections.Generic.HashSet[int]]
    $compile = @{
        Path                 = Join-Path -Path $PSScriptRoot -ChildPath 'MsmqAgent.cs'
        ReferencedAssemblies = @($known | ForEach-Object -Process { $_.Assembly.Location })
        IgnoreWarnings       = $true
    }
    if ($PSCmdlet.ParameterSetName -eq 'Build') {
        Add-Type @compile -OutputAssembly $BuildTo -OutputType ConsoleApplication
        return
    }
    Add-Type @compile
    if ($PSCmdlet.ParameterSetName -eq 'Port') {
        [Mqconform.Program]::Listen($Port, (New-Object -TypeName 'Mqconform.OnWindows'))
        return
    }
    $channel = [Mqconform.Program]::OnStandardStreams((New-Object -TypeName 'Mqconform.OnWindows'))
}

process {
    if ($PSCmdlet.ParameterSetName -eq 'Streams') {
        $channel.Take($Line)
        if ($channel.Stopped) { exit 0 }
    }
}

end {
    if ($PSCmdlet.ParameterSetName -eq 'Streams') { $channel.End() }
}
