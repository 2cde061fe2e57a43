#Requires -Version 5.1
<#
.SYNOPSIS
    Starts the agent of mqconform on this machine: the script compiles MsmqAgent.cs, from its own folder, in memory.
.DESCRIPTION
    Without a parameter, the agent speaks the control protocol on its standard streams, through any remote shell:
        ssh HOST powershell -NoProfile -ExecutionPolicy Bypass -File C:\mqconform\agent.ps1
    With -Port, it listens only on that port of 127.0.0.1. With -BuildTo, the script only writes a program that does
    both without PowerShell: MsmqAgent.exe [PORT].

    The agent reads the standard input itself. PowerShell does not read it, because this script has no parameter from the
    pipeline and never names the automatic variable of the pipeline's input.
#>
[CmdletBinding(DefaultParameterSetName = 'Streams')]
param(
    [Parameter(ParameterSetName = 'Port', Mandatory = $true)]
    [ValidateRange(1, 65535)]
    [int] $Port,

    [Parameter(ParameterSetName = 'Build', Mandatory = $true)]
    [ValidateNotNullOrEmpty()]
    [string] $BuildTo
)

Set-StrictMode -Version 2.0
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
if ($PSVersionTable.PSVersion.Major -ne 5) {
    throw 'System.Messaging is a part of .NET Framework: start this script with powershell.exe (5.1), not with pwsh.exe'
}
if ($PSCmdlet.ParameterSetName -eq 'Streams' -and -not [Console]::IsInputRedirected) {
    throw 'the standard input is a console: start this script through ssh, or give -Port'
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
$arguments = [string[]] @()
if ($PSCmdlet.ParameterSetName -eq 'Port') { $arguments = [string[]] @([string] $Port) }
exit [Mqconform.Program]::Run($arguments, (New-Object -TypeName 'Mqconform.OnWindows'))
