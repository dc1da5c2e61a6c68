import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { SweepBook, type TrialReader } from '../../src/wandb/sweep-book.js';
import { openSweepServer, type SweepServer } from '../../src/wandb/sweep-server.js';
import { removeFolder } from '../remove-folder.js';

let directory: string;
let server: SweepServer;
let now = 0;
/** What the runs have written, by id. */
let written: Record<string, number>;

const read: TrialReader = (run) => {
  const value = written[run];
  return value === undefined
    ? { state: 'running', values: null }
    : { state: 'done', values: { min: value, max: value, last: value } };
};

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'inner-sweep-'));
  [now, written] = [0, {}];
  server = await openSweepServer(new SweepBook(directory, {}, read), () => now);
});
afterEach(() => {
  server.close();
  removeFolder(directory);
});

type Answer = { data: Record<string, never> | null; errors?: { message: string }[] };
type Command = { type: string; run_id: string; args: Record<string, { value: unknown }>; program: string };

async function ask(query: string, variables: object): Promise<Answer> {
  const body = JSON.stringify({ query, variables });
  return (await (await fetch(`${server.url}/graphql`, { method: 'POST', body })).json()) as Answer;
}

const upsert = 'mutation UpsertSweep($config: String) { upsertSweep(input: {config: $config}) { sweep { name } } }';
const create = 'mutation CreateAgent($sweep: String!) { createAgent(input: {sweep: $sweep}) { agent { id } } }';
const beat = 'mutation Heartbeat($id: ID!) { agentHeartbeat(input: {id: $id}) { agent { id } commands } }';

async function sweepOf(config: object): Promise<string> {
  const { data } = (await ask(upsert, { config: stringify(config), projectName: 'p' })) as never as {
    data: { upsertSweep: { sweep: { name: string; project: { name: string } } } };
  };
  expect(data.upsertSweep.sweep.project.name).toBe('p');
  return data.upsertSweep.sweep.name;
}

async function agentOf(sweep: string): Promise<string> {
  const { data } = (await ask(create, { sweep })) as never as { data: { createAgent: { agent: { id: string } } } };
  return data.createAgent.agent.id;
}

async function commands(id: string, ...running: string[]): Promise<Command[]> {
  const runState = JSON.stringify(Object.fromEntries(running.map((run) => [run, true])));
  const { data } = (await ask(beat, { id, metrics: '{}', runState })) as never as {
    data: { agentHeartbeat: { commands: string } };
  };
  return JSON.parse(data.agentHeartbeat.commands) as Command[];
}

/** Runs what it is given, as wandb's agent does, which writes the values first; ends with its order, or with its count. */
async function train(sweep: string, count: number, lossOf: (run: Command) => number = () => 0): Promise<Command[]> {
  const agent = await agentOf(sweep);
  const done: Command[] = [];
  while (done.length < count) {
    const [command] = await commands(agent);
    if (command === undefined || command.type === 'exit') break;
    begin(sweep, command.run_id);
    expect(await commands(agent, command.run_id)).toEqual([]);
    written[command.run_id] = lossOf(command);
    done.push(command);
  }
  return done;
}

function begin(sweep: string, run: string): void {
  mkdirSync(join(directory, 'wandb', `sweep-${sweep}`), { recursive: true });
  writeFileSync(join(directory, 'wandb', `sweep-${sweep}`, `config-${run}.yaml`), '');
}

const valuesOf = (runs: readonly Command[]) =>
  runs.map(({ args }) => Object.fromEntries(Object.entries(args).map(([key, { value }]) => [key, value])));

const grid = { method: 'grid', parameters: { lr: { values: [0.1, 0.01] }, depth: { value: 2 } } };

describe('a sweep inside a program', () => {
  it('gives each point of a grid once, under a name that tells it, and then ends the agent', async () => {
    const runs = await train(await sweepOf(grid), 9);
    expect(runs.map(({ run_id: id }) => id)).toEqual(['lr0.1', 'lr0.01']);
    expect(valuesOf(runs)).toEqual([
      { depth: 2, lr: 0.1 },
      { depth: 2, lr: 0.01 },
    ]);
  });

  it('tells an agent without a function the config and the program', async () => {
    const sweep = await sweepOf({ ...grid, program: 'inner.py' });
    expect((await train(sweep, 1)).map(({ program }) => program)).toEqual(['inner.py']);
    const question = 'query Sweep($sweep: String!) { project { sweep(sweepName: $sweep) { config } } }';
    const { data } = (await ask(question, { sweep })) as never as { data: { project: { sweep: { config: string } } } };
    expect(parse(data.project.sweep.config)).toMatchObject({ program: 'inner.py', method: 'grid' });
  });

  it('has nested values as wandb.init takes them', async () => {
    const parameters = { opt: { parameters: { lr: { values: [1] }, beta: { value: 0.9 } } } };
    expect(valuesOf(await train(await sweepOf({ method: 'grid', parameters }), 9))).toEqual([
      { opt: { lr: 1, beta: 0.9 } },
    ]);
  });

  it('goes on with the next agent, and gives a run again that an agent has left when it had enough', async () => {
    const sweep = await sweepOf({ method: 'grid', parameters: { a: { values: [1, 2, 3, 4] } } });
    const first = await agentOf(sweep);
    const [one] = await commands(first);
    begin(sweep, one!.run_id);
    const [left] = await commands(first);
    expect([one!.run_id, left!.run_id]).toEqual(['a1', 'a2']);
    now += 60_000;
    const runs = await train(sweep, 9);
    expect(runs.map(({ run_id: id }) => id)).toEqual(['a2', 'a3', 'a4']);
  });

  it('takes no run from an agent that is there', async () => {
    const sweep = await sweepOf({ method: 'grid', parameters: { a: { values: [1, 2] } } });
    const [one, two] = [await agentOf(sweep), await agentOf(sweep)];
    const given = [...(await commands(one)), ...(await commands(two))].map(({ run_id: id }) => id);
    expect(given).toEqual(['a1', 'a2']);
    expect(await commands(one, 'a1')).toEqual([]);
  });

  it('draws other points each time, as many as are asked for or run_cap says', async () => {
    const parameters = { lr: { min: 0.0001, max: 1, distribution: 'log_uniform_values' } };
    const open = await train(await sweepOf({ method: 'random', parameters }), 7);
    expect(new Set(valuesOf(open).map(({ lr }) => lr)).size).toBe(7);
    expect(await train(await sweepOf({ method: 'random', run_cap: 3, parameters }), 7)).toHaveLength(3);
  });

  it('searches by what the runs have written', async () => {
    const config = {
      method: 'bayes',
      metric: { name: 'loss', goal: 'minimize' },
      parameters: { x: { min: 0, max: 1.5 } },
    };
    const xOf = ({ args }: Command) => args['x']!.value as number;
    const near = (best: number, runs: readonly Command[]) => Math.min(...runs.map((run) => Math.abs(xOf(run) - best)));
    const [low, high] = [
      await train(await sweepOf(config), 14, (run) => (xOf(run) - 0.2) ** 2),
      await train(await sweepOf(config), 14, (run) => (xOf(run) - 0.85) ** 2),
    ];
    expect(Math.max(near(0.2, low), near(0.85, high))).toBeLessThan(0.02);
  });

  it('keeps the runs of two sweeps of one program apart', async () => {
    const runs = [...(await train(await sweepOf(grid), 1)), ...(await train(await sweepOf(grid), 1))];
    expect(runs.map(({ run_id: id }) => id)).toEqual(['lr0.1', 'lr0.1-2']);
  });

  it('says what is wrong with a config, and with what it does not know', async () => {
    const faulty = { method: 'grid', parameters: { lr: { min: 0, max: 1.5 } } };
    expect((await ask(upsert, { config: stringify(faulty) })).errors![0]!.message).toMatch(/lr/);
    expect((await ask('query Artifacts { artifacts }', {})).errors![0]!.message).toContain('knows sweeps alone');
    expect((await ask(create, { sweep: 'other' })).errors![0]!.message).toContain('There is no other here');
  });
});
