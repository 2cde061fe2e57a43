#Requires -Version 5.1
<#
.SYNOPSIS
    Prepares a Windows machine for tests of its MSMQ, and restores it exactly.
.DESCRIPTION
    provision.ps1 -Tester 192.0.2.10 -WhatIf     reports the changes without making them
    provision.ps1 -Tester 192.0.2.10             makes the changes; the former state is first written to -Record
    provision.ps1 -Restore                       undoes the changes in the opposite order; can be repeated

    On a machine that was prepared before and not restored, the script prints a warning: the record keeps the state
    before the first run, and values of switches that are no longer given are restored.

    The three tables below list all changes: MSMQ's feature, the script's own queues, firewall rules for one address,
    values below HKLM\SOFTWARE\Microsoft\MSMQ\Parameters. A run that broke off can be continued or undone, because each
    former state is on disk before its change. Run the script as an administrator, in 64-bit Windows PowerShell.
#>
[CmdletBinding(DefaultParameterSetName = 'Prepare', SupportsShouldProcess = $true)]
param(
    # The address of the tester, the only address that the firewall admits.
    [Parameter(ParameterSetName = 'Prepare', Mandatory = $true)]
    [ValidateScript({ -not ($_.Equals([System.Net.IPAddress]::Any) -or $_.Equals([System.Net.IPAddress]::IPv6Any)) })]
    [System.Net.IPAddress] $Tester,

    # Also make resends, cleanups and reconnects ten times faster. Rules about these times can then not be judged.
    [Parameter(ParameterSetName = 'Prepare')]
    [switch] $Fast,

    # Also make windows and the history of messages small, so that a test can fill them.
    [Parameter(ParameterSetName = 'Prepare')]
    [switch] $Small,

    # Also send negative acknowledgments to administration queues without security.
    [Parameter(ParameterSetName = 'Prepare')]
    [switch] $InsecureNacks,

    # Also let callers without authentication read the queues remotely; a user in [rpc] of the SUT file is better.
    [Parameter(ParameterSetName = 'Prepare')]
    [switch] $AnonymousReads,

    [Parameter(ParameterSetName = 'Prepare')]
    [ValidateRange(1, 65535)]
    [int] $PingPort = 3527,

    [Parameter(ParameterSetName = 'Restore', Mandatory = $true)]
    [switch] $Restore,

    [ValidateNotNullOrEmpty()]
    [string] $Record = (Join-Path -Path $env:ProgramData -ChildPath 'mqconform\provision.json')
)

Set-StrictMode -Version 2.0
$ErrorActionPreference = 'Stop'
$Parameters = 'HKLM:\SOFTWARE\Microsoft\MSMQ\Parameters'
$Service = 'MSMQ'
$Feature = 'MSMQ-Server'
$RestartNeeded = 3010

# Values of MS-MQQB 6, product notes <9> to <11>, <16>, <25>, <28>, <30>, <42> to <47>, <52>, of MS-MQMQ 6, <23>, and of MS-MQRR 6,
# <19>.
# When: always, or the switch.
# Seconds: SeqResend..., SeqMaxAckDelay. Milliseconds: CleanupInterval, TryConnectInterval, RoundTripDelay,
# RemoveDuplicateCleanup. The end of each line states the default of Windows.
$Settings = @(
    @{ Key = 'Security'; Name = 'EnablePingService'; Value = 1; When = 'always' }  # no answer
    @{ Key = ''; Name = 'MsmqIpPingPort'; Value = $PingPort; When = 'always' }  # 3527
    @{ Key = 'Security'; Name = 'EnableReportMessages'; Value = 1; When = 'always' }  # no report messages
    @{ Key = 'Security'; Name = 'PermitInsecureNacks'; Value = 1; When = 'InsecureNacks' }  # 0
    @{ Key = 'Security'; Name = 'AllowNonauthenticatedRpc'; Value = 1; When = 'AnonymousReads' }  # 0
    @{ Key = 'Security'; Name = 'NewRemoteReadServerAllowNoneSecurityClient'; Value = 1; When = 'AnonymousReads' }  # 0
    @{ Key = ''; Name = 'SeqResend13Time'; Value = 3; When = 'Fast' }  # 30
    @{ Key = ''; Name = 'SeqResend46Time'; Value = 30; When = 'Fast' }  # 300
    @{ Key = ''; Name = 'SeqResend79Time'; Value = 180; When = 'Fast' }  # 1800
    @{ Key = ''; Name = 'SeqResend10Time'; Value = 2160; When = 'Fast' }  # 21600
    @{ Key = ''; Name = 'SeqMaxAckDelay'; Value = 1; When = 'Fast' }  # 10
    @{ Key = ''; Name = 'CleanupInterval'; Value = 30000; When = 'Fast' }  # 300000
    @{ Key = ''; Name = 'TryConnectInterval'; Value = 500; When = 'Fast' }  # 5000
    @{ Key = ''; Name = 'RoundTripDelay'; Value = 0; When = 'Fast' }  # 0
    @{ Key = ''; Name = 'RemoveDuplicateCleanup'; Value = 180000; When = 'Fast' }  # 1800000
    @{ Key = ''; Name = 'MaxUnackedPacket'; Value = 16; When = 'Small' }  # 64
    @{ Key = ''; Name = 'RemoveDuplicateSize'; Value = 100; When = 'Small' }  # 10000
)

$Queues = @(
    @{ Path = '.\private$\mqc-plain'; Transactional = $false }
    @{ Path = '.\private$\mqc-tx';    Transactional = $true }
    @{ Path = '.\private$\mqc-admin'; Transactional = $false }
)

# Message Queuing, its three ports of RPC, and the endpoint mapper.
$Rules = @(
    @{ Name = 'mqconform-msmq-tcp';  Protocol = 'TCP'; LocalPort = @('1801', '2103', '2105', '2107', '135') }
    @{ Name = 'mqconform-msmq-ping'; Protocol = 'UDP'; LocalPort = @([string]$PingPort) }
)

# -- the record: one entry for each change, in order, with the former state ---------------------------------------

function Read-Record {
    if (-not (Test-Path -LiteralPath $Record -PathType Leaf)) { return @() }
    $read = Get-Content -LiteralPath $Record -Raw -Encoding UTF8 | ConvertFrom-Json
    if ($read.schema -ne 1) { throw "$Record is not a record of this script: its schema is $($read.schema), not 1" }
    return @($read.entries)
}

function Write-Record {
    param([object[]] $Entries)
    $folder = Split-Path -Path $Record -Parent
    if (-not (Test-Path -LiteralPath $folder)) { $null = New-Item -Path $folder -ItemType Directory -Force }
    $aside = "$Record.new"
    @{ schema = 1; entries = @($Entries) } | ConvertTo-Json -Depth 5 |
        Set-Content -LiteralPath $aside -Encoding UTF8
    Move-Item -LiteralPath $aside -Destination $Record -Force
}

function Add-Entry {
    # Keep the state before the first run: a second run finds the changes of the first run, not the former state.
    param([hashtable] $Entry)
    $entries = @(Read-Record)
    $same = @($entries | Where-Object -FilterScript { $_.kind -eq $Entry.kind -and $_.name -eq $Entry.name })
    if ($same.Count -eq 0) { Write-Record -Entries ($entries + [pscustomobject]$Entry) }
}

# -- registry ------------------------------------------------------------------------------------------------------------

function Get-Key {
    param([string] $Key)
    if ($Key) { return Join-Path -Path $Parameters -ChildPath $Key }
    return $Parameters
}

function Get-Former {
    # The present state of a value: whether its key and the value exist, its kind and its data.
    param([string] $Path, [string] $Name)
    if (-not (Test-Path -LiteralPath $Path)) { return @{ keyExisted = $false; existed = $false } }
    $found = Get-Item -LiteralPath $Path
    if ($found.GetValueNames() -notcontains $Name) { return @{ keyExisted = $true; existed = $false } }
    return @{
        keyExisted = $true
        existed    = $true
        type       = $found.GetValueKind($Name).ToString()
        value      = $found.GetValue($Name, $null, 'DoNotExpandEnvironmentNames')
    }
}

function Set-Setting {
    param([hashtable] $Setting)
    $path = Get-Key -Key $Setting.Key
    if (-not $PSCmdlet.ShouldProcess("$path\$($Setting.Name)", "set to $($Setting.Value)")) { return }
    $former = Get-Former -Path $path -Name $Setting.Name
    Add-Entry -Entry (@{ kind = 'registry'; name = $Setting.Name } + $former)
    if (-not (Test-Path -LiteralPath $path)) { $null = New-Item -Path $path -Force }
    $null = New-ItemProperty -LiteralPath $path -Name $Setting.Name -Value $Setting.Value -PropertyType DWord -Force
}

function Undo-Setting {
    # The place comes from the table: a record names values, never their places.
    param([object] $Entry)
    $setting = @($Settings | Where-Object -FilterScript { $_.Name -eq $Entry.name })
    if ($setting.Count -ne 1) { throw "$Record names a value that this script never sets: $($Entry.name)" }
    $path = Get-Key -Key $setting[0].Key
    if (-not (Test-Path -LiteralPath $path)) { return }
    if ($Entry.existed) {
        $null = New-ItemProperty -LiteralPath $path -Name $Entry.name -Value $Entry.value -PropertyType $Entry.type -Force
        return
    }
    Remove-ItemProperty -LiteralPath $path -Name $Entry.name -ErrorAction SilentlyContinue
    $left = Get-Item -LiteralPath $path
    if (-not $Entry.keyExisted -and $left.ValueCount -eq 0 -and $left.SubKeyCount -eq 0) {
        Remove-Item -LiteralPath $path
    }
}

function Reset-Setting {
    # Restore a value that an earlier run changed because of a switch that this run lacks.
    param([hashtable] $Setting)
    $entries = @(Read-Record)
    $ours = @($entries | Where-Object -FilterScript { $_.kind -eq 'registry' -and $_.name -eq $Setting.Name })
    if ($ours.Count -eq 0) { return }
    if (-not $PSCmdlet.ShouldProcess($Setting.Name, "restore: $($Setting.When) is not asked for any more")) { return }
    Undo-Setting -Entry $ours[0]
    Write-Record -Entries @($entries | Where-Object -FilterScript { $_.kind -ne 'registry' -or $_.name -ne $Setting.Name })
}

# -- the feature, queues, the firewall -----------------------------------------------------------------------------------

function Enable-Feature {
    $all = @(Get-WindowsOptionalFeature -Online | Where-Object -FilterScript { $_.FeatureName -like 'MSMQ*' })
    $wanted = @($all | Where-Object -FilterScript { $_.FeatureName -eq $Feature })
    if ($wanted.Count -eq 0) { throw "this Windows has no feature $Feature" }
    if ($wanted[0].State -eq 'Enabled') { return }
    if (-not $PSCmdlet.ShouldProcess($Feature, 'install')) { return }
    $off = @($all | Where-Object -FilterScript { $_.State -ne 'Enabled' } | ForEach-Object -Process { $_.FeatureName })
    Add-Entry -Entry @{ kind = 'feature'; name = $Feature; wereOff = $off }
    $done = Enable-WindowsOptionalFeature -Online -FeatureName $Feature -All -NoRestart
    if ($done.RestartNeeded) {
        Write-Warning -Message 'Windows must be restarted before MSMQ is available: restart Windows, then run the same command again'
        exit $RestartNeeded
    }
}

function Undo-Feature {
    # The features that -All enabled are also removed, after the feature itself, because it needs them.
    param([object] $Entry)
    if ($Entry.name -ne $Feature) { throw "$Record names a feature that this script never installs: $($Entry.name)" }
    $names = @($Feature) + @($Entry.wereOff | Where-Object -FilterScript { $_ -like 'MSMQ*' -and $_ -ne $Feature })
    foreach ($name in $names) {
        $now = Get-WindowsOptionalFeature -Online -FeatureName $name
        if ($now.State -ne 'Enabled') { continue }
        $done = Disable-WindowsOptionalFeature -Online -FeatureName $name -NoRestart
        if ($done.RestartNeeded) { $script:restart = $true }
    }
}

function Get-AccountName {
    # Groups have other names in other languages.
    param([string] $Sid)
    $identifier = New-Object -TypeName System.Security.Principal.SecurityIdentifier -ArgumentList $Sid
    return $identifier.Translate([System.Security.Principal.NTAccount]).Value
}

function New-Queue {
    param([hashtable] $Queue)
    if ([System.Messaging.MessageQueue]::Exists($Queue.Path)) {
        $ours = @(Read-Record | Where-Object -FilterScript { $_.kind -eq 'queue' -and $_.name -eq $Queue.Path })
        if ($ours.Count -eq 0) { Write-Warning -Message "$($Queue.Path) existed before: it is used unchanged, and is not removed later" }
        return
    }
    $readers = 'every user'
    if ($AnonymousReads) { $readers = 'everybody' }
    if (-not $PSCmdlet.ShouldProcess($Queue.Path, "create, for everybody to send to and $readers to read")) { return }
    Add-Entry -Entry @{ kind = 'queue'; name = $Queue.Path }
    $made = [System.Messaging.MessageQueue]::Create($Queue.Path, $Queue.Transactional)
    $write = [System.Messaging.MessageQueueAccessRights]'WriteMessage'
    $all = [System.Messaging.MessageQueueAccessRights]'WriteMessage, ReceiveMessage, PeekMessage, GetQueueProperties'
    $anonymous = $write
    if ($AnonymousReads) { $anonymous = $all }
    $made.SetPermissions((Get-AccountName -Sid 'S-1-1-0'), $all)
    $made.SetPermissions((Get-AccountName -Sid 'S-1-5-7'), $anonymous)
    $made.Close()
}

function Undo-Queue {
    param([object] $Entry)
    if (@($Queues | ForEach-Object -Process { $_.Path }) -notcontains $Entry.name) {
        throw "$Record names a queue that this script never creates: $($Entry.name)"
    }
    if (-not (Get-Service -Name $Service -ErrorAction SilentlyContinue)) { return }
    if ([System.Messaging.MessageQueue]::Exists($Entry.name)) { [System.Messaging.MessageQueue]::Delete($Entry.name) }
}

function New-Rule {
    param([hashtable] $Rule)
    if (-not $PSCmdlet.ShouldProcess("$($Rule.Protocol) $($Rule.LocalPort -join ', ')", "let $Tester in")) { return }
    Add-Entry -Entry @{ kind = 'firewall'; name = $Rule.Name }
    Get-NetFirewallRule -Name $Rule.Name -ErrorAction SilentlyContinue | Remove-NetFirewallRule
    $opened = @{
        Name          = $Rule.Name
        DisplayName   = "mqconform: MSMQ over $($Rule.Protocol) for the tester"
        Direction     = 'Inbound'
        Action        = 'Allow'
        Protocol      = $Rule.Protocol
        LocalPort     = $Rule.LocalPort
        RemoteAddress = $Tester.ToString()
    }
    $null = New-NetFirewallRule @opened
}

function Undo-Rule {
    param([object] $Entry)
    if (@($Rules | ForEach-Object -Process { $_.Name }) -notcontains $Entry.name) {
        throw "$Record names a firewall rule that this script never creates: $($Entry.name)"
    }
    Get-NetFirewallRule -Name $Entry.name -ErrorAction SilentlyContinue | Remove-NetFirewallRule
}

# -- shared steps -----------------------------------------------------------------------------------------------------------

function Restart-Msmq {
    if (-not (Get-Service -Name $Service -ErrorAction SilentlyContinue)) { return }
    if ($PSCmdlet.ShouldProcess($Service, 'restart the service, so that it reads its values')) {
        Restart-Service -Name $Service -Force
    }
}

function Show-Machine {
    # The values for the SUT file.
    $cache = Join-Path -Path $Parameters -ChildPath 'MachineCache'
    if (-not (Test-Path -LiteralPath $cache)) { return }
    $bytes = [byte[]](Get-ItemProperty -LiteralPath $cache -Name 'QMId').QMId
    $windows = Get-Item -LiteralPath 'HKLM:\SOFTWARE\Microsoft\Windows NT\CurrentVersion'
    $major = $windows.GetValue('CurrentMajorVersionNumber')
    $version = $windows.GetValue('CurrentVersion')
    if ($null -ne $major) { $version = "$major.$($windows.GetValue('CurrentMinorVersionNumber'))" }
    [pscustomobject]@{
        Identifier = (New-Object -TypeName System.Guid -ArgumentList (, $bytes)).ToString()
        Windows    = $windows.GetValue('ProductName')
        Version    = "$version.$($windows.GetValue('CurrentBuild')).$($windows.GetValue('UBR', 0))"
        Record     = $Record
    }
}

function Confirm-Place {
    $identity = [System.Security.Principal.WindowsIdentity]::GetCurrent()
    $principal = New-Object -TypeName System.Security.Principal.WindowsPrincipal -ArgumentList $identity
    if (-not $principal.IsInRole([System.Security.Principal.WindowsBuiltInRole]::Administrator)) {
        throw 'this script changes the machine: run it as an administrator'
    }
    if ([Environment]::Is64BitOperatingSystem -and -not [Environment]::Is64BitProcess) {
        throw 'a 32-bit process sees a different registry: run this script in 64-bit Windows PowerShell'
    }
    if ($PSVersionTable.PSVersion.Major -ne 5) {
        throw 'System.Messaging is a part of .NET Framework: run this script with powershell.exe (5.1), not with pwsh.exe'
    }
}

function Show-Earlier {
    # Preparing continues on a machine that was prepared and not restored, with a reminder.
    $entries = @(Read-Record)
    if ($entries.Count -eq 0) { return }
    $last = (Get-Item -LiteralPath $Record).LastWriteTime.ToString('u')
    Write-Warning -Message "the machine was prepared before, last at $last, and not restored: $($entries.Count) changes in $Record"
}

function Invoke-Prepare {
    Show-Earlier
    Enable-Feature
    $chosen = @{
        always         = $true
        Fast           = [bool]$Fast
        Small          = [bool]$Small
        InsecureNacks  = [bool]$InsecureNacks
        AnonymousReads = [bool]$AnonymousReads
    }
    foreach ($setting in $Settings) {
        if ($chosen[$setting.When]) { Set-Setting -Setting $setting } else { Reset-Setting -Setting $setting }
    }
    Restart-Msmq
    if (Get-Service -Name $Service -ErrorAction SilentlyContinue) {
        foreach ($queue in $Queues) { New-Queue -Queue $queue }
    }
    foreach ($rule in $Rules) { New-Rule -Rule $rule }
    Show-Machine
}

function Invoke-Restore {
    $entries = @(Read-Record)
    if ($entries.Count -eq 0) {
        Write-Output -InputObject "nothing to restore: $Record does not exist"
        return
    }
    $undo = @{
        registry = ${function:Undo-Setting}
        queue    = ${function:Undo-Queue}
        firewall = ${function:Undo-Rule}
        feature  = ${function:Undo-Feature}
    }
    $script:restart = $false
    $kept = @()
    while ($entries.Count -gt 0) {
        $last = $entries[$entries.Count - 1]
        $entries = @($entries | Select-Object -First ($entries.Count - 1))
        if (-not $undo.ContainsKey([string]$last.kind)) { throw "$Record names a change of an unknown kind: $($last.kind)" }
        if ($PSCmdlet.ShouldProcess("$($last.kind) $($last.name)", 'restore')) {
            & $undo[[string]$last.kind] -Entry $last
            Write-Record -Entries ($entries + $kept)
        }
        else { $kept = @($last) + $kept }
    }
    Restart-Msmq
    if ($kept.Count -eq 0) { Remove-Item -LiteralPath $Record }
    if ($script:restart) {
        Write-Warning -Message 'Windows must be restarted before MSMQ is removed'
        exit $RestartNeeded
    }
}

Confirm-Place
Add-Type -AssemblyName 'System.Messaging'
if ($Restore) { Invoke-Restore } else { Invoke-Prepare }
