#Requires -Version 5.1
<#
.SYNOPSIS
    Prepares a Windows machine for tests of its MSMQ, and restores it exactly.
.DESCRIPTION
    provision.ps1 -Tester 192.0.2.10 -WhatIf     says what it would change, and changes nothing
    provision.ps1 -Tester 192.0.2.10             changes it; what was there before is written to -Record first
    provision.ps1 -Restore                       undoes it in the opposite order; can be called again and again

    A machine that was prepared before and never restored says so: what was there before the first run stays on record,
    and values of switches that are not given any more are restored.

    Whatever it changes is in the three tables below: MSMQ's feature, queues of its own, firewall rules for one address,
    values below HKLM\SOFTWARE\Microsoft\MSMQ\Parameters. A run that broke off is gone on with, or undone: each former
    state is on disk before its change. Run it as an administrator, in Windows PowerShell of 64 bits.
#>
[CmdletBinding(DefaultParameterSetName = 'Prepare', SupportsShouldProcess = $true)]
param(
    # The address of the tester: the only one that the firewall lets in.
    [Parameter(ParameterSetName = 'Prepare', Mandatory = $true)]
    [ValidateScript({ -not ($_.Equals([System.Net.IPAddress]::Any) -or $_.Equals([System.Net.IPAddress]::IPv6Any)) })]
    [System.Net.IPAddress] $Tester,

    # Also make resends, cleanups and reconnects ten times faster. Rules about those times cannot be judged then.
    [Parameter(ParameterSetName = 'Prepare')]
    [switch] $Fast,

    # Also make windows and the history of messages small, so that a test can fill them.
    [Parameter(ParameterSetName = 'Prepare')]
    [switch] $Small,

    # Also send negative acknowledgments to administration queues without security.
    [Parameter(ParameterSetName = 'Prepare')]
    [switch] $InsecureNacks,

    # Also let callers without authentication read the queues remotely; better is a user in [rpc] of the SUT file.
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
# RemoveDuplicateCleanup. What Windows does without them stands at the end of each line.
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

# -- the record: one entry for each change, in order, with what was there before ---------------------------------------

function Read-Record {
    if (-not (Test-Path -LiteralPath $Record -PathType Leaf)) { return @() }
    $read = Get-Content -LiteralPath $Record -Raw -Encoding UTF8 | ConvertFrom-Json
    if ($read.schema -ne 1) { throw "$Record is no record of this script: its schema is $($read.schema), not 1" }
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
    # Keeps what was there before the first run: a second one finds its own changes, which are not the former state.
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
    # What a value is now: whether its key and itself are there, its kind and its data.
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
    # The place is that of the table: a record names values, never where they are.
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
    # A value that an earlier run changed by a switch that this one is called without: what is not asked for is as before.
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
        Write-Warning -Message 'Windows has to be restarted before MSMQ is there: restart it, then run the same command again'
        exit $RestartNeeded
    }
}

function Undo-Feature {
    # What -All switched on beside it goes, too; the feature itself first, since the others are what it needs.
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
        if ($ours.Count -eq 0) { Write-Warning -Message "$($Queue.Path) was there before: it is used as it is, and stays" }
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
        throw "$Record names a queue that this script never makes: $($Entry.name)"
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
        throw "$Record names a firewall rule that this script never makes: $($Entry.name)"
    }
    Get-NetFirewallRule -Name $Entry.name -ErrorAction SilentlyContinue | Remove-NetFirewallRule
}

# -- both ways -----------------------------------------------------------------------------------------------------------

function Restart-Msmq {
    if (-not (Get-Service -Name $Service -ErrorAction SilentlyContinue)) { return }
    if ($PSCmdlet.ShouldProcess($Service, 'restart the service, which reads its values then')) {
        Restart-Service -Name $Service -Force
    }
}

function Show-Machine {
    # What the SUT file wants to know.
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
        throw 'this changes the machine: run it as an administrator'
    }
    if ([Environment]::Is64BitOperatingSystem -and -not [Environment]::Is64BitProcess) {
        throw 'a process of 32 bits sees another registry: run it in Windows PowerShell of 64 bits'
    }
    if ($PSVersionTable.PSVersion.Major -ne 5) {
        throw 'System.Messaging is a part of .NET Framework: run it with powershell.exe (5.1), not with pwsh.exe'
    }
}

function Show-Earlier {
    # A machine that was prepared and never restored is gone on with; whoever did it may have forgotten.
    $entries = @(Read-Record)
    if ($entries.Count -eq 0) { return }
    $last = (Get-Item -LiteralPath $Record).LastWriteTime.ToString('u')
    Write-Warning -Message "prepared before, last at $last, and never restored: $($entries.Count) changes in $Record"
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
        Write-Output -InputObject "nothing to restore: there is no record $Record"
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
        if (-not $undo.ContainsKey([string]$last.kind)) { throw "$Record names a change of no kind: $($last.kind)" }
        if ($PSCmdlet.ShouldProcess("$($last.kind) $($last.name)", 'restore')) {
            & $undo[[string]$last.kind] -Entry $last
            Write-Record -Entries ($entries + $kept)
        }
        else { $kept = @($last) + $kept }
    }
    Restart-Msmq
    if ($kept.Count -eq 0) { Remove-Item -LiteralPath $Record }
    if ($script:restart) {
        Write-Warning -Message 'Windows has to be restarted before MSMQ is gone'
        exit $RestartNeeded
    }
}

Confirm-Place
Add-Type -AssemblyName 'System.Messaging'
if ($Restore) { Invoke-Restore } else { Invoke-Prepare }
