import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunId } from '../../../src/base/ids.js';
import type { Fleet } from '../../../src/client/fleet.js';
import { readRunRecord } from '../../../src/files/run-directory/run-record-file.js';
import { run, Testbed, untilState, waitFor } from '../testbed.js';

const environment = { PATH: process.env['PATH']! };
const DAYS = 2 * 86_400_000;
const HOUR = 3_600_000;

let bed: Testbed;
beforeEach(() => {
  bed = new Testbed();
});
afterEach(() => bed.close());

/** A supervisor whose wall clock is off by so much, after the one before was killed. */
async function lifeAt(shiftMs: number): Promise<Fleet> {
  if (bed.supervisorPid() !== null) await bed.killSupervisor();
  const preload = pathToFileURL(resolve('test/faults/shift-clock.mjs')).href;
  const shift = { NODE_OPTIONS: `--import=${preload}`, MEMRL_CLOCK_SHIFT_MS: String(shiftMs) };
  const programs = await bed.programs();
  const fleet = await bed.fleet({ ...programs, environment: { ...programs.environment, ...shift } });
  return fleet;
}

const deaf = ['sh', '-c', 'trap "" TERM; echo up; while :; do sleep 0.05; done'];
const id = RunId.parse('s/run0');

async function launched(fleet: Fleet, over: Parameters<Testbed['plan']>[1][number]) {
  await fleet.submit(bed.plan('s', [over]), environment, { slots: 1, gpus: 'none' });
}

const jumps = [
  { jump: 'set forward by two days', shift: DAYS },
  { jump: 'set back by an hour', shift: -HOUR },
];

describe.each(jumps)('a wall clock that was $jump while the supervisor was dead', ({ shift }) => {
  it('ends no run before its timeout, and shows how long it has been up', { tags: ['long'] }, async () => {
    const first = await lifeAt(0);
    await launched(first, { argv: deaf, timeout: 1800 });
    await untilState(first, 's/run0', 'running');
    first.close();
    const second = await lifeAt(shift);
    const { startedAt } = await untilState(second, 's/run0', 'running');
    const age = Date.now() + shift - startedAt!;
    expect(age).toBeGreaterThanOrEqual(-1000);
    expect(age).toBeLessThan(60_000);
    await second.act('kill', [id]);
    const { killAt } = await untilState(second, 's/run0', 'stopping');
    expect(killAt! - (Date.now() + shift)).toBeLessThan(11_000);
    expect(killAt! - (Date.now() + shift)).toBeGreaterThan(0);
  });

  it('neither puts off nor hastens the end of a grace, and writes down true times', { tags: ['long'] }, async () => {
    const first = await lifeAt(0);
    await launched(first, { argv: deaf, grace: 1.5 });
    await waitFor('it to be up', () => bed.text('s', 'run0', 'output.log') === 'up\n');
    await first.act('kill', [id]);
    const begun = performance.now();
    await untilState(first, 's/run0', 'stopping');
    first.close();
    const second = await lifeAt(shift);
    const { startedAt, endedAt } = await untilState(second, 's/run0', 'killed');
    expect(performance.now() - begun).toBeGreaterThanOrEqual(1400);
    expect(endedAt! - startedAt!).toBeGreaterThan(0);
    expect(endedAt! - startedAt!).toBeLessThan(60_000);
    expect(Math.abs(endedAt! - Date.now() - shift)).toBeLessThan(60_000);
    await waitFor('its record', () => readRunRecord(bed.path('s', 'run0'))?.attempts[0]?.endedAt);
    expect(readRunRecord(bed.path('s', 'run0'))!.attempts[0]).toMatchObject({ startedAt, endedAt });
  });

  it('neither puts off nor hastens a retry', { tags: ['long'] }, async () => {
    const first = await lifeAt(0);
    const script = `echo x >> ${bed.path('starts')}; test $(wc -l < ${bed.path('starts')}) -ge 2`;
    const retry = { max: 1, backoff: 2, on: ['crash' as const] };
    await launched(first, { argv: ['sh', '-c', script], retry });
    const failed = await waitFor('the wait for its retry', () => run(first, 's/run0').retryAt);
    const due = performance.now() + failed - Date.now();
    first.close();
    const second = await lifeAt(shift);
    await untilState(second, 's/run0', 'done');
    expect(performance.now() - due).toBeGreaterThan(-500);
    expect(bed.text('starts')).toBe('x\nx\n');
  });

  it('is forgiven when it is set right again', async () => {
    (await lifeAt(shift)).close();
    const second = await lifeAt(0);
    await launched(second, { argv: ['true'], timeout: 1800 });
    const { startedAt, endedAt } = await untilState(second, 's/run0', 'done');
    expect(Math.abs(startedAt! - Date.now())).toBeLessThan(60_000);
    expect(endedAt! - startedAt!).toBeLessThan(60_000);
    expect(bed.text('.supervisor', 'journal.jsonl').match(/"clock-read"/g)).toHaveLength(2);
  });
});

it('a journal of another boot goes on with the wall clock', async () => {
  const first = await lifeAt(0);
  await launched(first, { argv: ['sh', '-c', 'exit 1'], retry: { max: 1, backoff: HOUR / 1000, on: ['crash'] } });
  await waitFor('the wait for its retry', () => run(first, 's/run0').retryAt);
  first.close();
  await bed.killSupervisor();
  const journal = bed.path('.supervisor', 'journal.jsonl');
  writeFileSync(journal, readFileSync(journal, 'utf8').replaceAll(/"bootId":"[^"]*"/g, '"bootId":"another"'));
  const second = await lifeAt(2 * HOUR);
  expect(await untilState(second, 's/run0', 'failed')).toMatchObject({ attempt: 2 });
});
