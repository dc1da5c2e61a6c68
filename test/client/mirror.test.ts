import fc from 'fast-check';
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { RunId } from '../../src/base/ids.js';
import { wellHealth } from '../../src/analysis/health/finding.js';
import { Mirror } from '../../src/client/mirror.js';
import { MessageReader, ServerMessage } from '../../src/protocol/message.js';
import type { SweepSummary } from '../../src/protocol/run-summary.js';
import type { SchedulerEvent } from '../../src/scheduler/event.js';
import { emptyState } from '../../src/scheduler/state.js';
import { step } from '../../src/scheduler/step.js';
import type { PlannedRun } from '../../src/spec/planned-run.js';
import { RunViewCache } from '../../src/supervisor/publish/run-view-cache.js';
import { ClientLink } from '../../src/supervisor/publish/socket-server.js';
import { nothingMonitored, type MonitoredMetrics } from '../../src/supervisor/publish/run-view.js';
import { ended, id, slots, started, stopAsked, submitted } from '../scheduler/play.js';
import { plan } from '../supervisor/testbed.js';
import { aRun } from '../tui/simulated-fleet.js';

/** A supervisor's side without processes, and a client whose line can be held up. */
function newPair(count: number) {
  const names = Array.from({ length: count }, (_, n) => `r${n}`);
  const state = emptyState();
  const vitals = new Map<RunId, MonitoredMetrics>();
  const sweeps: SweepSummary[] = [];
  const planned = new Map(
    plan(
      '/runs',
      's',
      names.map((name) => ({ name, objective: { name: 'loss', goal: 'minimize' as const } })),
    ).runs.map((run) => [run.id, run]),
  );
  const rows = {
    loop: { state, clock: { wallTime: (at: number) => at } },
    planned: (run: RunId) => planned.get(run)!,
    contextOf: (run: PlannedRun) => ({
      argv: run.argv,
      parameters: run.parameters,
      gpuMemory: null,
      pid: null,
      warning: null,
      monitored: vitals.get(run.id) ?? nothingMonitored,
      health: wellHealth,
    }),
    leftOf: () => null,
    delayOf: () => null,
  };
  const board = new RunViewCache(rows, {
    sweeps: () => sweeps,
    gpus: () => [],
    unread: () => 0,
    nodes: () => null,
    problem: () => null,
  });
  const line = { sent: '', held: 0, isHeld: false };
  const socket = {
    writable: true,
    get writableLength() {
      return line.held;
    },
    write(text: string) {
      line.sent += text;
      if (line.isHeld) line.held += text.length;
    },
  };
  const link = new ClientLink(socket as unknown as Socket, board, 1);
  const take = (event: SchedulerEvent) => board.touch(step(state, event).touched);
  const publish = (now = 0) => {
    link.changed(board.refresh());
    let stalled = link.flush(board.status(), now);
    // It sends for a few ms in one turn.
    while (link.wantsMore) stalled = link.flush(board.status(), now);
    return stalled;
  };
  const measure = (run: RunId, loss: number) => {
    // Of rows that begin anew, nothing may be known again.
    vitals.set(run, { ...nothingMonitored, metrics: { loss }, best: loss < 0 ? null : loss, spark: [loss] });
    board.touch([run]);
  };
  return { state, board, link, line, take, publish, measure, names };
}

/** What a client makes of all that was sent. */
function mirrorOf(sent: string): Mirror {
  const mirror = new Mirror();
  mirror.takeAll(new MessageReader(ServerMessage).push(Buffer.from(sent)));
  return mirror;
}

describe('what a client sees', () => {
  it('is in the end what the supervisor sees, whatever happened and however often the line was held up', () => {
    const change = fc.record({
      kind: fc.constantFrom(
        'start',
        'end',
        'fail',
        'stop',
        'measure',
        'publish',
        'publish',
        'hold',
        'release',
        'forget',
      ),
      run: fc.nat(9),
      value: fc.integer(),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
        const { board, line, take, publish, measure } = newPair(10);
        take(slots(3));
        take(submitted(Array.from({ length: 10 }, (_, n) => `r${n}`)));
        for (const { kind, run, value } of changes) {
          const name = `r${run}`;
          if (kind === 'start') take(started(name));
          else if (kind === 'end') take(ended(name));
          else if (kind === 'fail') take(ended(name, 'failed'));
          else if (kind === 'stop') take(stopAsked(name));
          else if (kind === 'measure') measure(id(name), value);
          else if (kind === 'forget') take({ type: 'sweep-forgotten', at: 9, sweep: 's' });
          else if (kind === 'publish') publish();
          else Object.assign(line, kind === 'hold' ? { isHeld: true, held: 1 << 20 } : { isHeld: false, held: 0 });
        }
        Object.assign(line, { isHeld: false, held: 0 });
        publish();
        const mirror = mirrorOf(line.sent);
        expect(mirror.complete).toBe(true);
        expect(mirror.runs).toEqual(board.rows);
        expect(mirror.status).toEqual(board.status());
      }),
      { numRuns: 200 },
    );
  });

  it('stands in the order of the file, wherever runs were added, for those who watched and those who come', () => {
    const { line, take, publish } = newPair(300);
    const some = Array.from({ length: 300 }, (_, n) => `r${n}`);
    take(slots(0));
    take(submitted(some.filter((_, n) => n % 3 !== 1)));
    publish();
    const watching = mirrorOf(line.sent);
    line.sent = '';
    take(submitted(some));
    publish();
    watching.takeAll(new MessageReader(ServerMessage).push(Buffer.from(line.sent)));
    expect([...watching.runs.values()].map(({ name }) => name)).toEqual(some);
  });

  it('has the words of today, whatever the supervisor calls a run that has fallen silent', () => {
    const { sent, mirror } = { sent: new MessageReader(ServerMessage), mirror: new Mirror() };
    const row = { ...aRun('a'), health: 'stalled' };
    const lines = [
      { type: 'runs', seq: 1, runs: [row] },
      { type: 'patches', seq: 2, patches: [{ id: row.id, progress: 0.5 }] },
    ].map((message) => JSON.stringify(message));
    mirror.takeAll(sent.push(Buffer.from(`${lines.join('\n')}\n`)));
    expect(mirror.runs.get(row.id)).toMatchObject({ health: 'silent', progress: 0.5 });
  });

  it('has the infinities that JSON does not, for as long as they are there', () => {
    const { line, take, publish, measure } = newPair(1);
    take(slots(0));
    take(submitted(['r0']));
    const valueAfter = (loss: number): number | null | undefined => {
      measure(id('r0'), loss);
      publish();
      return mirrorOf(line.sent).runs.get(id('r0'))?.metrics['loss'];
    };
    expect([1, Infinity, 2, -Infinity, Number.NaN].map(valueAfter)).toEqual([1, Infinity, 2, -Infinity, null]);
  });

  it('comes in launch order, in pages, and then only what has changed', () => {
    const { line, take, publish, measure, names } = newPair(450);
    take(slots(0));
    take(submitted(names));
    publish();
    const mirror = mirrorOf(line.sent);
    expect([...mirror.runs.values()].map(({ name }) => name)).toEqual(names);
    // Five where the machine is quick: a page ends with its time, too.
    const pages = line.sent.split('\n').filter((text) => text.includes('"type":"runs"'));
    const counts = pages.map((text) => (JSON.parse(text) as { runs: unknown[] }).runs.length);
    expect(Math.max(...counts)).toBeLessThanOrEqual(100);
    expect(counts.reduce((sum, count) => sum + count)).toBe(450);
    line.sent = '';
    measure(id('r7'), 0.5);
    publish();
    expect(JSON.parse(line.sent)).toEqual({
      ...{ type: 'patches', seq: pages.length + 2 },
      patches: [
        { id: 's/r7', metrics: { loss: 0.5 }, best: { metric: 'loss', goal: 'minimize', value: 0.5 }, spark: [0.5] },
      ],
    });
    line.sent = '';
    publish();
    expect(line.sent).toBe('');
  });

  it('costs no memory while the client does not listen, and says for how long', () => {
    const { line, take, publish, measure, names } = newPair(1000);
    take(slots(0));
    take(submitted(names));
    line.isHeld = true;
    // As far as it goes in two turns: more than may be unsent.
    publish(0);
    publish(0);
    const before = line.sent.length;
    for (let n = 1; n <= 40; n++) {
      names.forEach((name) => measure(id(name), n));
      expect(publish(n * 100)).toBe(n * 100);
    }
    expect(line.sent.length).toBe(before);
    expect(before).toBeLessThan(512 << 10);
    Object.assign(line, { isHeld: false, held: 0 });
    publish(20_000);
    publish(20_100);
    expect([...mirrorOf(line.sent).runs.values()].every(({ metrics }) => metrics['loss'] === 40)).toBe(true);
  });

  it('is answered only after the rows that the answer is about', () => {
    const { line, link, take, publish } = newPair(3);
    take(slots(0));
    take(submitted(['r0', 'r1', 'r2']));
    link.answer(7, { ok: true, message: '' });
    publish();
    const types = line.sent
      .trim()
      .split('\n')
      .map((text) => (JSON.parse(text) as { type: string }).type);
    expect(types).toEqual(['hello', 'sweeps', 'runs', 'status', 'ready', 'ack']);
  });
});
