import { describe, expect, it } from 'vitest';
import type { Finding } from '../../../src/cli/doctor/check.js';
import { judgePlace, judgeSpace, judgeSupervisor, mountOf } from '../../../src/cli/doctor/runs-directory.js';
import {
  judgeMemory,
  judgeOpenFiles,
  judgeProcesses,
  judgeWatches,
  parseLimits,
} from '../../../src/cli/doctor/limits.js';
import { judgeGpus, judgeNode } from '../../../src/cli/doctor/machine.js';
import { hostFinding, judgeLogout, judgeSecrets } from '../../../src/cli/doctor/survival.js';
import { judgeCharacters, judgePreferences, judgeTerminal, judgeTmux } from '../../../src/cli/doctor/terminal.js';
import type { Gpu } from '../../../src/gpu/gpu.js';
import { sizeText } from '../../../src/text/numbers.js';

type Case = { what: string; finding: Finding; state: Finding['state']; says: string };
const GIB = 2 ** 30;

function verdicts(cases: Case[]): void {
  it.each(cases)('$what: $state', ({ finding, state, says }) => {
    expect(finding.state).toBe(state);
    expect(finding.found).toContain(says);
    // What is not well comes with a way out, and only that.
    expect(finding.fix !== undefined).toBe(state !== 'ok');
  });
}

describe('preferences', () => {
  const path = '/home/ada/.config/memrl-tui/preferences.json';
  verdicts([
    { what: 'none yet', finding: judgePreferences(path, null), state: 'ok', says: path },
    { what: 'in order', finding: judgePreferences(path, '{"keys":"vim","sweeps":{}}'), state: 'ok', says: path },
    { what: 'cut off', finding: judgePreferences(path, '{"keys":"v'), state: 'warn', says: 'not a JSON object' },
    { what: 'a list', finding: judgePreferences(path, '[]'), state: 'warn', says: 'not a JSON object' },
    {
      what: 'misspelt',
      finding: judgePreferences(path, '{"theme":"drak"}'),
      state: 'warn',
      says: '"drak", which is not',
    },
  ]);
});

describe('Node', () => {
  verdicts([
    { what: 'new enough', finding: judgeNode('v20.19.0'), state: 'ok', says: 'v20.19.0' },
    { what: 'newer', finding: judgeNode('v24.1.0'), state: 'ok', says: 'v24' },
    { what: 'a little old', finding: judgeNode('v20.18.3'), state: 'bad', says: 'older than 20.19' },
    { what: 'old', finding: judgeNode('v18.20.0'), state: 'bad', says: 'older' },
  ]);
});

describe('GPUs', () => {
  const gpu: Gpu = {
    ...{ index: 0, uuid: 'GPU-0', bus: null, name: 'NVIDIA H100', vendor: 'nvidia', instanceOf: null },
    ...{ memoryTotal: 81_559, memoryUsed: 0, utilization: 0, temperature: null, power: null, computeMode: 'default' },
  };
  const gpus = (...all: Partial<Gpu>[]) => ({
    kind: 'gpus' as const,
    gpus: all.map((each) => ({ ...gpu, ...each })),
    processes: [],
  });
  const reason = 'nvidia-smi did not answer within 4 s';
  verdicts([
    { what: 'none', finding: judgeGpus({ kind: 'none' }, 1), state: 'ok', says: 'none' },
    { what: 'two', finding: judgeGpus(gpus({}, { index: 1 }), 90), state: 'ok', says: '2 × NVIDIA H100 (80 GiB)' },
    { what: 'two kinds', finding: judgeGpus(gpus({}, { name: 'A' }), 90), state: 'ok', says: ', 1 × A' },
    { what: 'slow', finding: judgeGpus(gpus({}), 2500), state: 'warn', says: '2.50 s, which is slow' },
    { what: 'a driver alone', finding: judgeGpus(gpus(), 90), state: 'warn', says: 'no GPU' },
    { what: 'a shut one', finding: judgeGpus(gpus({ computeMode: 'prohibited' }), 9), state: 'bad', says: 'GPU 0' },
    { what: 'a sick driver', finding: judgeGpus({ kind: 'unknown', reason }, 4000), state: 'bad', says: reason },
  ]);
});

describe('the terminal', () => {
  const size = { columns: 120, rows: 40 };
  const look = (term: string, given: typeof size | null = size) =>
    judgeTerminal({ environment: term === '' ? {} : { TERM: term }, size: given });
  verdicts([
    { what: 'a good one', finding: look('xterm-256color'), state: 'ok', says: '120×40, 256 colours' },
    { what: 'a pipe', finding: look('xterm', null), state: 'ok', says: 'plain lines' },
    { what: 'a dumb one', finding: look('dumb'), state: 'warn', says: 'no window' },
    { what: 'without a name', finding: look(''), state: 'warn', says: 'TERM is not set' },
    { what: 'small', finding: look('xterm-256color', { columns: 79, rows: 40 }), state: 'warn', says: '79×40' },
    { what: 'few colours', finding: look('xterm'), state: 'warn', says: '16 colours' },
    { what: 'UTF-8', finding: judgeCharacters({ LANG: 'de_DE.UTF-8' }), state: 'ok', says: 'Unicode (de_DE.UTF-8)' },
    { what: 'no locale', finding: judgeCharacters({}), state: 'ok', says: 'Unicode' },
    { what: 'the C locale', finding: judgeCharacters({ LC_ALL: 'C' }), state: 'warn', says: 'locale is C' },
    { what: 'the console', finding: judgeCharacters({ TERM: 'linux' }), state: 'ok', says: 'ASCII' },
    { what: 'tmux', finding: judgeTmux(10, 'tmux-256color'), state: 'ok', says: 'tmux-256color' },
    { what: 'slow tmux', finding: judgeTmux(500, 'tmux-256color'), state: 'warn', says: '500 ms' },
    { what: 'pale tmux', finding: judgeTmux(10, 'screen'), state: 'warn', says: 'screen' },
    { what: 'silent tmux', finding: judgeTmux(null, null), state: 'ok', says: 'tmux' },
  ]);
});

describe('the disk', () => {
  const space = (free: number, files = 1e6, ffree = 1e6) =>
    judgeSpace({ bsize: 4096, blocks: (100 * GIB) / 4096, bavail: free / 4096, files, ffree });
  const mount = { folder: '/', type: 'ext4', options: ['rw'] };
  const at = (over: object) => judgePlace({ folder: '/runs', isThere: true, isWritable: true, mount, ...over });
  verdicts([
    { what: 'room', finding: space(50 * GIB), state: 'ok', says: '50 GiB of 100 GiB free' },
    { what: 'little room', finding: space(2 * GIB), state: 'warn', says: '2.0 GiB' },
    { what: 'no room', finding: space(GIB / 4), state: 'bad', says: '256 MiB' },
    { what: 'no inodes', finding: space(50 * GIB, 1e6, 12), state: 'warn', says: '12 more files' },
    { what: 'inodes not counted', finding: space(50 * GIB, 0, 0), state: 'ok', says: '50 GiB' },
    { what: 'local', finding: at({}), state: 'ok', says: '/runs, on ext4' },
    { what: 'not there', finding: at({ isThere: false }), state: 'ok', says: 'does not exist yet' },
    { what: 'unknown', finding: at({ mount: null }), state: 'ok', says: '/runs' },
    { what: 'not writable', finding: at({ isWritable: false }), state: 'bad', says: 'not writable' },
    { what: 'read-only', finding: at({ mount: { ...mount, options: ['ro'] } }), state: 'bad', says: 'read-only' },
    { what: 'NFS', finding: at({ mount: { ...mount, type: 'nfs4' } }), state: 'warn', says: 'network' },
    { what: 'sshfs', finding: at({ mount: { ...mount, type: 'fuse.sshfs' } }), state: 'warn', says: 'network' },
    { what: 'tmpfs', finding: at({ mount: { ...mount, type: 'tmpfs' } }), state: 'warn', says: 'reboot' },
    { what: 'noexec', finding: at({ mount: { ...mount, options: ['rw', 'noexec'] } }), state: 'warn', says: 'started' },
  ]);

  const mountinfo = [
    '27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard',
    '30 27 0:50 / /home rw,nosuid shared:4 master:2 - nfs4 server:/home rw,vers=4.2',
    '31 27 0:51 / /home/me/my\\040disk rw,noexec - ext4 /dev/sdb1 rw',
    '32 27 0:52 / /data rw - xfs /dev/sdc1 rw',
    '33 27 0:53 / /data rw - tmpfs tmpfs ro,size=4k',
    'torn li',
  ].join('\n');

  it.each([
    { path: '/tmp/x', folder: '/', type: 'ext4' },
    { path: '/home/me/runs', folder: '/home', type: 'nfs4' },
    { path: '/home/me/my disk/runs', folder: '/home/me/my disk', type: 'ext4' },
    { path: '/homes', folder: '/', type: 'ext4' },
    { path: '/data', folder: '/data', type: 'tmpfs' },
  ])('$path lies on $folder', ({ path, folder, type }) => {
    expect(mountOf(path, mountinfo)).toMatchObject({ folder, type });
  });

  it('a file system that is read-only as a whole is, whatever the mount says', () => {
    expect(mountOf('/data', mountinfo)?.options).toContain('ro');
  });

  it.each([
    [0, '0 bytes'],
    [1023, '1023 bytes'],
    [1536, '1.5 KiB'],
    [20 * GIB, '20 GiB'],
    [2 ** 53, '8192 TiB'],
  ])('%d bytes are %s', (bytes, text) => expect(sizeText(bytes)).toBe(text));
});

describe('limits', () => {
  const limits = (soft: string, hard = '1048576') =>
    [
      'Limit                     Soft Limit           Hard Limit           Units     ',
      'Max cpu time              unlimited            unlimited            seconds   ',
      `Max processes             ${'4096'.padEnd(20)} ${'8192'.padEnd(20)} processes `,
      `Max open files            ${soft.padEnd(20)} ${hard.padEnd(20)} files     `,
      'Max nice priority         0                    0                    ',
    ].join('\n');

  it('are read as the system writes them', () => {
    const parsed = parseLimits(limits('1024'));
    expect(parsed.get('Max open files')).toEqual({ soft: 1024, hard: 1_048_576 });
    expect(parsed.get('Max cpu time')).toEqual({ soft: Infinity, hard: Infinity });
    expect(parsed.size).toBe(4);
  });

  const meminfo = 'MemTotal:       16384 kB\nMemAvailable:    2097152 kB\n';
  const all = { free: 5 * GIB, total: 16 * GIB };
  const most = { watches: 10_000, instances: 128 };
  verdicts([
    { what: 'many files', finding: judgeOpenFiles(limits('1024')), state: 'ok', says: '1,024' },
    { what: 'few files', finding: judgeOpenFiles(limits('256')), state: 'warn', says: '256' },
    { what: 'hardly any files', finding: judgeOpenFiles(limits('64')), state: 'bad', says: '64' },
    { what: 'any number of files', finding: judgeOpenFiles(limits('unlimited')), state: 'ok', says: 'any number' },
    { what: 'no /proc', finding: judgeOpenFiles(null), state: 'ok', says: 'unknown' },
    {
      what: 'processes',
      finding: judgeProcesses({ most: 96_000, used: 300 }, null),
      state: 'ok',
      says: '300 of 96,000',
    },
    {
      what: 'nearly all processes',
      finding: judgeProcesses({ most: 400, used: 390 }, null),
      state: 'warn',
      says: '390',
    },
    {
      what: 'a tight container',
      finding: judgeProcesses({ most: 9e4, used: 3 }, { most: 100, used: 99 }),
      state: 'warn',
      says: '99 of 100',
    },
    { what: 'root', finding: judgeProcesses(null, null), state: 'ok', says: 'not limited' },
    { what: 'few watches', finding: judgeWatches(most, { watches: 9500, instances: 3 }), state: 'warn', says: '9,500' },
    {
      what: 'few watchers',
      finding: judgeWatches(most, { watches: 9, instances: 126 }),
      state: 'warn',
      says: '126 of 128',
    },
    { what: 'enough of both', finding: judgeWatches(most, { watches: 9, instances: 3 }), state: 'ok', says: '9 of' },
    { what: 'memory', finding: judgeMemory(meminfo, all), state: 'ok', says: '2.0 GiB of 16 GiB' },
    { what: 'memory without /proc', finding: judgeMemory(null, all), state: 'ok', says: '5.0 GiB' },
    {
      what: 'no memory',
      finding: judgeMemory(meminfo.replace('2097152', '1024'), all),
      state: 'warn',
      says: '1.0 MiB',
    },
  ]);
});

describe('the supervisor', () => {
  const lock = { pid: 4711, startTime: '1', bootId: 'b', socket: '/s', version: 1 as const };
  const silent = { kind: 'silent' as const, lock };
  const answers = (isOurs: boolean) => ({ kind: 'answers' as const, lock, isOurs });
  const sick = { kind: 'unreadable' as const, reason: 'EACCES' };
  verdicts([
    { what: 'none', finding: judgeSupervisor({ kind: 'none' }, 'dead'), state: 'ok', says: 'not running' },
    { what: 'well', finding: judgeSupervisor(answers(true), 'up'), state: 'ok', says: '4711 answers' },
    { what: 'of another version', finding: judgeSupervisor(answers(false), 'up'), state: 'warn', says: 'version' },
    { what: 'dead', finding: judgeSupervisor(silent, 'dead'), state: 'ok', says: 'was killed' },
    { what: 'stuck', finding: judgeSupervisor(silent, 'up'), state: 'bad', says: 'does not answer' },
    { what: 'with a torn lock', finding: judgeSupervisor(sick, 'dead'), state: 'bad', says: 'EACCES' },
  ]);
});

describe('what runs survive', () => {
  const scope = '0::/user.slice/user-1000.slice/session-3.scope\n';
  const manager = '0::/user.slice/user-1000.slice/user@1000.service/app.slice/term.scope\n';
  const leave = (over: object) => judgeLogout({ killsAll: false, lingers: false, group: scope, user: 'me', ...over });
  const stay = { job: null, container: null, first: 'systemd', zombies: 0 };
  verdicts([
    { what: 'a usual logout', finding: leave({}), state: 'ok', says: 'survive' },
    { what: 'KillUserProcesses', finding: leave({ killsAll: true }), state: 'bad', says: 'KillUserProcesses' },
    {
      what: 'a killing logind, from a service',
      finding: leave({ killsAll: true, group: '0::/system.slice/x.service\n' }),
      state: 'ok',
      says: 'survive',
    },
    { what: 'a desktop terminal', finding: leave({ group: manager }), state: 'warn', says: 'service manager' },
    {
      what: 'lingering',
      finding: leave({ group: manager, lingers: true, killsAll: true }),
      state: 'ok',
      says: 'lingering',
    },
    { what: 'no container', finding: hostFinding(stay), state: 'ok', says: 'no container' },
    { what: 'a container', finding: hostFinding({ ...stay, container: 'docker' }), state: 'ok', says: 'docker' },
    {
      what: 'a container without init',
      finding: hostFinding({ ...stay, container: 'docker', first: 'node', zombies: 300 }),
      state: 'warn',
      says: '(node)',
    },
    { what: 'a Slurm job', finding: hostFinding({ ...stay, job: '77' }), state: 'ok', says: 'job 77' },
    { what: 'no secrets', finding: judgeSecrets(new Map()), state: 'ok', says: 'none' },
    {
      what: 'secrets',
      finding: judgeSecrets(new Map([['s', { commands: 2, settings: 0 }]])),
      state: 'warn',
      says: '2 runs',
    },
  ]);
});
