import { describe, expect, it } from 'vitest';
import { JoinedFleets } from '../../src/client/joined-fleets.js';
import type { Fleet, RunSummary } from '../../src/client/fleet.js';
import { gpuName, GPUS_OF_A_HOST } from '../../src/base/ids.js';

type Member = ConstructorParameters<typeof JoinedFleets>[0][number];

/** A supervisor with one sweep of one run, which notes what it is asked. */
function member(name: string, asked: unknown[], change: Partial<Fleet> = {}): Member {
  const run = { id: 'lr/a', sweep: 'lr', directory: '/runs/lr/a', gpus: [1] } as unknown as RunSummary;
  const gpu = { index: 1, name: 'A100', runs: ['lr/a'] };
  const sweep = { name: 'lr', directory: '/runs/lr' };
  const fleet = {
    sweeps: new Map([['lr', sweep]]),
    runs: new Map([[run.id, run]]),
    status: { settled: true, recalled: true, unread: 1, cpu: { slots: 2, busy: 1 }, gpus: [gpu], problem: null },
    ...{ connection: 'connected', problem: null, version: () => 1, subscribe: () => () => undefined },
    act: (act: unknown, ids: unknown) => (asked.push([name, act, ids]), Promise.resolve({ ok: true, message: 'done' })),
    request: (command: unknown) => (asked.push([name, command]), Promise.resolve({ ok: true, message: 'done' })),
    ...change,
  };
  return { name, fleet: fleet as unknown as Fleet };
}

describe('the supervisor of one other host', () => {
  it('keeps its words, but for directories', () => {
    const fleets = new JoinedFleets([member('box', [])]);
    expect([...fleets.runs.values()]).toMatchObject([
      { id: 'lr/a', sweep: 'lr', directory: 'box:/runs/lr/a', gpus: [1] },
    ]);
    expect([...fleets.sweeps]).toMatchObject([['lr', { name: 'lr', directory: 'box:/runs/lr' }]]);
    expect(fleets.status.gpus).toMatchObject([{ index: 1, name: 'A100' }]);
  });

  it('gives the same row for as long as it is the same', () => {
    const fleets = new JoinedFleets([member('box', [])]);
    const [before] = fleets.runs.values();
    expect([...fleets.runs.values()][0]).toBe(before);
  });

  it('is lost when its host is, with the reason', () => {
    const lost = { connection: 'reconnecting', problem: 'Network is unreachable' } as const;
    const fleets = new JoinedFleets([member('box', [], lost)]);
    expect([fleets.connection, fleets.status.problem]).toEqual(['reconnecting', 'box: Network is unreachable']);
  });
});

describe('the supervisors of several hosts', () => {
  const asked: unknown[] = [];
  const fleets = new JoinedFleets([member('a', asked), member('b', asked)]);
  const said = async (ask: () => Promise<unknown>) => {
    asked.length = 0;
    const answer = await ask();
    return { answer, asked: [...asked] };
  };
  const ids = [...fleets.runs.keys()];
  const gpus = fleets.status.gpus.map(({ index }) => index);

  it('tell their nodes apart, and where their runs are', () => {
    const run = {
      id: 'lr/a',
      sweep: 'lr',
      directory: '/runs/lr/a',
      slot: 'n1',
      nodeGpus: [3],
      gpus: [],
    } as unknown as RunSummary;
    const node = { name: 'n1', state: 'free', takesRuns: true, gpus: 4, gpusInUse: 0 };
    const onNode = (name: string) => {
      const { fleet } = member(name, []);
      return member(name, [], { runs: new Map([[run.id, run]]), status: { ...fleet.status, nodes: [node] } });
    };
    const both = new JoinedFleets([onNode('a'), onNode('b')]);
    expect(both.status.nodes?.map(({ name }) => name)).toEqual(['n1@a', 'n1@b']);
    expect([...both.runs.values()].map(({ slot }) => slot)).toEqual(['n1@a', 'n1@b']);
  });

  it('show each sweep once a host', () => {
    expect(ids).toEqual(['lr@a/a', 'lr@b/a']);
    expect([...fleets.sweeps.keys()]).toEqual(['lr@a', 'lr@b']);
    expect([...fleets.runs.values()].map(({ directory }) => directory)).toEqual(['a:/runs/lr/a', 'b:/runs/lr/a']);
  });

  it('add up their slots, and tell their GPUs apart', () => {
    expect(fleets.status).toMatchObject({ unread: 2, cpu: { slots: 4, busy: 2 } });
    expect(fleets.status.gpus).toMatchObject([
      { index: GPUS_OF_A_HOST + 1, name: 'a A100', runs: ['lr@a/a'] },
      { index: 2 * GPUS_OF_A_HOST + 1, name: 'b A100', runs: ['lr@b/a'] },
    ]);
    expect(gpus.map(gpuName)).toEqual(['1/1', '2/1']);
  });

  it('do to a run what is done to it on its host', async () => {
    const { asked } = await said(() => fleets.act('kill', [ids[1]!]));
    expect(asked).toEqual([['b', 'kill', ['lr/a']]]);
    const both = await said(() => fleets.request({ verb: 'hold', ids }));
    expect(both.asked).toEqual(['a', 'b'].map((host) => [host, { verb: 'hold', ids: ['lr/a'] }]));
    expect(both.answer).toEqual({ ok: true, message: 'done' });
  });

  it('stop a sweep and drain a GPU on its host', async () => {
    const stopped = await said(() => fleets.request({ verb: 'stop-sweep', sweep: 'lr@b' }));
    expect(stopped.asked).toEqual([['b', { verb: 'stop-sweep', sweep: 'lr' }]]);
    const drained = await said(() => fleets.request({ verb: 'drain', gpus: [gpus[0]!], drained: true }));
    expect(drained.asked).toEqual([['a', { verb: 'drain', gpus: [1], drained: true }]]);
  });

  it('refuse what concerns one host and does not say which', async () => {
    const { answer, asked } = await said(() => fleets.request({ verb: 'set-slots', slots: { slots: 3 } }));
    expect([answer, asked]).toMatchObject([{ ok: false }, []]);
  });

  it('are lost when all are, and say which one is', () => {
    const half = new JoinedFleets([member('a', []), member('b', [], { connection: 'reconnecting' })]);
    expect([half.connection, half.status.problem]).toEqual(['connected', 'b: the connection is lost']);
  });
});
