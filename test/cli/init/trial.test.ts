import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tried } from '../../../src/cli/verbs/init.js';
import { removeFolder } from '../../remove-folder.js';

const before = process.env['TMPDIR'];
let place: string;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'memrl-trial-'));
  process.env['TMPDIR'] = place;
});
afterEach(() => {
  if (before === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = before;
  removeFolder(place);
});

const limits = { patienceMs: 20_000, most: 1 << 20 };

describe('a program that is tried', () => {
  it('has its metrics read, and its folder removed', async () => {
    const { end, output, shown } = await tried(['sh', '-c', 'echo step=1 loss=2; echo step=2 loss=1; touch x'], limits);
    expect(end).toMatchObject({ kind: 'exit', code: 0, signal: null });
    expect(output).toBe('step=1 loss=2\nstep=2 loss=1\n');
    expect(shown).toEqual(['loss']);
    expect(readdirSync(place)).toEqual([]);
  });

  it.each([
    { where: 'where it was started', folder: 'lightning_logs/version_0', writesThere: true },
    { where: 'in the directory of its run', folder: '$MEMRL_RUN_DIR/logs', writesThere: false },
  ])('is known to write $where', async ({ folder, writesThere }) => {
    const script = `mkdir -p "${folder}"; printf 'step,loss\n0,2\n1,1\n' > "${folder}/metrics.csv"`;
    const answer = await tried(['sh', '-c', script], limits);
    expect(answer).toMatchObject({ shown: ['loss'], writesThere });
  });

  it('has its own output read and cut, and no file behind a link that it has put in the place of its log', async () => {
    const precious = 'precious'.repeat(100);
    writeFileSync(join(place, 'victim'), precious);
    const script = `echo mine; rm -f "$MEMRL_RUN_DIR/output.log"; ln -s ${join(place, 'victim')} "$MEMRL_RUN_DIR/output.log"; exec yes`;
    const { end, output } = await tried(['sh', '-c', script], { ...limits, most: 100 });
    expect([end.kind, output.slice(0, 7), output.length]).toEqual(['loud', 'mine\ny\n', 100]);
    expect(readFileSync(join(place, 'victim'), 'utf8')).toBe(precious);
    expect(readdirSync(place)).toEqual(['victim']);
  });

  it.each([
    { what: 'hangs', command: ['sleep', '600'], end: { kind: 'late' }, patienceMs: 200 },
    {
      what: 'ignores SIGTERM',
      command: ['sh', '-c', "trap '' TERM; sleep 600"],
      end: { kind: 'late' },
      patienceMs: 200,
    },
    { what: 'prints for ever', command: ['yes'], end: { kind: 'loud' }, patienceMs: 20_000 },
    {
      what: 'reads its input',
      command: ['sh', '-c', 'read x || exit 3'],
      end: { kind: 'exit', code: 3 },
      patienceMs: 20_000,
    },
    { what: 'is not there', command: ['/nowhere/x'], end: { kind: 'unstartable' }, patienceMs: 20_000 },
    { what: 'cannot be', command: ['a\0b'], end: { kind: 'unstartable' }, patienceMs: 20_000 },
  ])('is bounded where it $what', async ({ command, end, patienceMs }) => {
    expect((await tried(command, { ...limits, patienceMs })).end).toMatchObject(end);
    expect(readdirSync(place)).toEqual([]);
  });
});
