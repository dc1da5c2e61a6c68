import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseStat } from '../../src/base/process-stat.js';
import {
  type HostIdentity,
  hostIdentity,
  identityOf,
  isAlive,
  parseIdentity,
  relationTo,
} from '../../src/processes/process-identity.js';
import { parsePs } from '../../src/processes/process-table.js';
import { waitFor } from '../supervisor/testbed.js';

describe('the identity of a process', () => {
  it('is read from a stat line whatever the program calls itself', () => {
    const tail = `S 10 42 42 0 -1 4194304 ${Array.from({ length: 12 }, (_, n) => n).join(' ')} 777 1 2`;
    expect(parseStat(`42 (a) b) (c) ${tail}`)).toEqual({
      ...{ pid: 42, name: 'a) b) (c', state: 'S', parent: 10, group: 42, session: 42, terminal: false },
      ...{ startTime: '777', image: '0' },
    });
    const rest = Array.from({ length: 27 }, () => 0).join(' ');
    expect(parseStat(`42 (a) ${tail.replace(/ 1 2$/, '')} ${rest} 140722 140755 0`)?.image).toBe('140722');
  });

  it.each(['', '42', '42 (sh', '42 (sh) S 1', 'nonsense (sh) S 1'])('is not made up from %j', (line) => {
    expect(parseStat(line)).toBeNull();
    expect(parseIdentity(line)).toBeNull();
  });

  it('knows the living from the dead, the zombie, and another process with the same pid', async () => {
    const child = spawn('sleep', ['60']);
    const identity = identityOf(child.pid!)!;
    expect(isAlive(identity)).toBe(true);
    expect(isAlive({ ...identity, startTime: '1' })).toBe(false);
    expect(isAlive({ ...identity, bootId: 'another' })).toBe(false);
    child.kill('SIGKILL');
    await waitFor('its death', () => !isAlive(identity));
  });

  it('takes a zombie for dead', async () => {
    // The shell is replaced by a program that never waits for its child.
    const parent = spawn('sh', ['-c', 'sleep 0.2 & echo $!; exec sleep 60']);
    const pid = await new Promise<number>((resolve) => parent.stdout.once('data', (data) => resolve(Number(data))));
    await waitFor('the zombie', () => readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z '));
    expect(identityOf(pid)).toBeNull();
    parent.kill('SIGKILL');
  });

  it('is understood as ps writes it, where there is no /proc', () => {
    expect(parseIdentity('42 lstart Sat Nov  1 08:00:00 2026')).toEqual({
      ...{ pid: 42, startTime: 'Sat Nov 1 08:00:00 2026', bootId: '' },
    });
    const rows = [
      '   42     1    42 Ss   ??       Sat Nov  1 08:00:00 2026 /bin/sh',
      '  900    42    42 S+   ttys001  Sat Nov  1 08:00:01 2026 /Applications/My Tool/tool',
      '   43    42    42 Z    ??       Sat Nov  1 08:00:00 2026 (sh)',
    ];
    expect(parsePs(`${rows.join('\n')}\n\n`)).toEqual([
      {
        ...{ pid: 42, name: 'sh', parent: 1, group: 42, session: 42, state: 'S', terminal: false },
        startTime: 'Sat Nov 1 08:00:00 2026',
        image: '',
      },
      {
        ...{ pid: 900, name: 'tool', parent: 42, group: 42, session: 42, state: 'S', terminal: true },
        startTime: 'Sat Nov 1 08:00:01 2026',
        image: '',
      },
    ]);
  });
});

const here: HostIdentity = { host: 'alpha', machineId: 'm1', bootId: 'b1', pidNamespace: 'pid:[1]' };

describe('what a pid of somewhere else means here', () => {
  it.each<{ where: string; there: Partial<HostIdentity>; relation: string }>([
    { where: 'this very place', there: {}, relation: 'same' },
    { where: 'this machine before it was started again', there: { bootId: 'b0' }, relation: 'earlier' },
    { where: 'a container on this machine', there: { pidNamespace: 'pid:[2]', host: 'c0ffee' }, relation: 'foreign' },
    { where: 'another machine', there: { host: 'beta', machineId: 'm2', bootId: 'b2' }, relation: 'foreign' },
    { where: 'another machine of the same name', there: { machineId: 'm2', bootId: 'b2' }, relation: 'foreign' },
    { where: 'a copy of this machine under another name', there: { host: 'beta', bootId: 'b2' }, relation: 'foreign' },
  ])('$where: $relation', ({ there, relation }) => {
    expect(relationTo({ ...here, ...there }, here)).toBe(relation);
  });

  it('tells machines apart by name where there is no /proc', () => {
    const mac = { host: 'mac', machineId: '', bootId: '', pidNamespace: '' };
    expect(relationTo(mac, mac)).toBe('same');
    expect(relationTo({ ...mac, host: 'other' }, mac)).toBe('foreign');
  });

  it('knows this process', () => {
    expect(relationTo(hostIdentity())).toBe('same');
    expect(hostIdentity().host).not.toBe('');
  });
});
