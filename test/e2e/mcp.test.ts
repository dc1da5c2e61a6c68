import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { agentIn, textIn } from './mcp-client.js';
import { eventually, isAlive, workplace } from './program.js';

const { at, folder, write, run, supervisorPid } = workplace();

/** Runs that go on until there is a file of their number. */
const patient =
  "name: patient\ncommand: [sh, -c, 'echo begun; while [ ! -e go${n} ]; do sleep 0.05; done']\nparameters: { n: [1, 2, 3] }\n";

const most = 25_000;

type Error = { error: { code: string; message: string; fix: string } };
type Listed = {
  matched: number;
  states: Record<string, number>;
  common: Record<string, unknown>;
  runs: { run: string; state?: string; parameters?: Record<string, unknown> }[];
  left_out?: string;
};

describe('an agent that may only look', () => {
  it('is refused what changes something, and told how to allow it', async () => {
    write('patient.yaml', patient);
    expect((await run('patient.yaml', '--detach', '--slots', '3')).code).toBe(0);
    const { ask, call, leave } = await agentIn(folder());
    expect(await call('kill', { query: 'all', yes: true })).toMatchObject({ isError: true });
    const { error } = await ask<Error>('kill', { query: 'all', yes: true });
    expect(error.message).toBe('This server may only look, and `kill` changes something. Nothing was done.');
    expect(error.fix).toContain('`memrl-tui mcp --allow kill`');
    expect((await call('launch', { file: 'patient.yaml' })).isError).toBe(true);
    expect((await ask<Listed>('ls')).states).not.toHaveProperty('killed');
    expect(await leave()).toBe(0);
  });

  it('is refused a query that no run matches, a name that nothing has, and a parameter that there is not', async () => {
    write('s.yaml', 'name: s\ncommand: ["true"]\nparameters: { seed: [0, 1] }\n');
    expect((await run('s.yaml', '--plain')).code).toBe(0);
    const { ask, call, leave } = await agentIn(folder());
    for (const tool of ['ls', 'failures', 'curves', 'best', 'logs', 'wait']) {
      expect(await call(tool, { query: 'nowhere' }), tool).toMatchObject({ isError: true });
      expect((await ask<Error>(tool, { query: 'nowhere' })).error.code, tool).toBe('no-such-run');
    }
    expect((await ask<Error>('report', { sweep: 't' })).error).toMatchObject({ code: 'no-such-sweep' });
    expect((await ask<Error>('curves', { query: 's', metrics: ['loss'] })).error.message).toContain(
      'has written `loss`',
    );
    expect((await ask<Error>('logs', { query: 's', grep: '(' })).error.fix).toContain('Escape');
    expect((await call('ls', { querry: 's' })).text).toContain('querry');
    expect(await ask('failures', { query: 's' })).toEqual({ matched: 2, failed: 0 });
    await leave();
  });

  it('gets an answer of at most 25 kB about 2,000 runs, and can ask for the rest', { tags: ['long'] }, async () => {
    write(
      'many.yaml',
      "name: many\ncommand: [sh, -c, 'exec sleep 1000', '${args}']\nparameters: { seed: { range: [0, 2000] } }\n".replace(
        '{ range: [0, 2000] }',
        JSON.stringify(Array.from({ length: 2000 }, (_, seed) => seed)),
      ),
    );
    expect((await run('many.yaml', '--detach', '--slots', '1')).code).toBe(0);
    const { ask, call, leave } = await agentIn(folder());
    const answers = [call('ls', { details: true }), call('plan', { file: 'many.yaml' }), call('status')];
    for (const { text, isError } of await Promise.all(answers)) {
      expect(isError, text.slice(0, 500)).toBe(false);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(most);
    }
    const { text } = await call('ls');
    const first = JSON.parse(text) as Listed;
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(most);
    expect(first).toMatchObject({ matched: 2000, common: { group: 'runs' } });
    expect(first.runs.length).toBeGreaterThan(100);
    expect(first.left_out).toContain(`${first.runs.length} of 2000 runs`);
    expect(first.left_out).toContain(`offset ${first.runs.length}`);
    const next = await ask<Listed>('ls', { offset: first.runs.length });
    expect(next.runs[0]!.parameters).toEqual({ seed: first.runs.length });
    await leave();
  });

  it('waits with progress while runs end', async () => {
    write('patient.yaml', patient);
    expect((await run('patient.yaml', '--detach', '--slots', '3')).code).toBe(0);
    const { client, call, leave } = await agentIn(folder());
    const heard: { progress: number; total?: number | undefined; message?: string | undefined }[] = [];
    const onprogress = (each: (typeof heard)[number]) => {
      heard.push(each);
      // One ends after the other.
      write(`go${heard.length}`, '');
    };
    const { content } = await client.callTool(
      { name: 'wait', arguments: { query: 'patient', timeout: '10m' } },
      { onprogress },
    );
    expect(JSON.parse(textIn(content))).toEqual({ timed_out: false, states: { done: 3 } });
    expect(heard.map(({ progress, total }) => [progress, total])).toEqual(
      [
        [0, 3],
        [1, 3],
        [2, 3],
        [3, 3],
      ].slice(0, heard.length),
    );
    expect(heard.length).toBeGreaterThanOrEqual(3);
    expect(heard[1]!.message).toContain('1 of 3 done');
    expect((await call('ls')).isError).toBe(false);
    await leave();
  });

  it('that gives up waiting leaves nothing that waits', async () => {
    write('patient.yaml', patient);
    expect((await run('patient.yaml', '--detach', '--slots', '3')).code).toBe(0);
    const { client, ask, leave } = await agentIn(folder());
    const connections = () => process.getActiveResourcesInfo().filter((name) => name === 'PipeWrap').length;
    let during = 0;
    const giveUp = new AbortController();
    const onprogress = ({ progress }: { progress: number }) => {
      if (progress === 0) return write('go1', '');
      during = connections();
      giveUp.abort();
    };
    const waiting = client.callTool(
      { name: 'wait', arguments: { query: 'patient', timeout: '10m' } },
      { onprogress, signal: giveUp.signal },
    );
    await expect(waiting).rejects.toThrow();
    await eventually(() => connections() < during, 'the connection of the call to be closed while the runs go on');
    expect(await ask('wait', { query: 'patient', timeout: '0' })).toMatchObject({ timed_out: true });
    const pid = supervisorPid()!;
    for (const n of [2, 3]) write(`go${n}`, '');
    // It stays as long as anybody is connected.
    await eventually(() => !isAlive(pid), 'the supervisor to leave');
    await leave();
  });

  it('sees hostile text as text', async () => {
    const line = String.raw`{"step": 1, "loss\u001b[31m": 0.5}`;
    write(
      'evil.sh',
      `printf '\\033]0;owned\\007\\033[2Jboom\\n'\nprintf '%s\\n' '${line}' > $MEMRL_RUN_DIR/metrics.jsonl\nexit 1\n`,
    );
    write('evil.yaml', 'name: evil\ncommand: [sh, evil.sh]\n');
    expect((await run('evil.yaml', '--plain')).code).toBe(3);
    const { call, leave } = await agentIn(folder());
    const texts = await Promise.all(['ls', 'failures', 'logs', 'curves'].map((tool) => call(tool, { query: 'all' })));
    for (const { text } of texts) {
      expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
      expect(text).not.toContain('owned');
    }
    expect(texts[2]!.text).toBe('boom');
    await leave();
  });

  it('gets curves with few points, of each stretch the lowest and the highest', async () => {
    const rows = Array.from({ length: 1000 }, (_, step) =>
      JSON.stringify({ step, loss: step === 500 ? 99 : 1 / (step + 1) }),
    );
    write('rows.jsonl', `${rows.join('\n')}\n`);
    write('c.yaml', "name: c\ncommand: [sh, -c, 'cp rows.jsonl ${run_dir}/metrics.jsonl']\n");
    expect((await run('c.yaml', '--plain')).code).toBe(0);
    const { ask, leave } = await agentIn(folder());
    const { curves } = await ask<{ curves: Record<string, unknown>[] }>('curves', {
      query: 'c',
      metrics: ['loss'],
      points: 10,
    });
    expect(curves).toMatchObject([{ metric: 'loss', values: 1000, lowest: [999, 0.001], highest: [500, 99] }]);
    expect(curves[0]!['points']).toHaveLength(10);
    expect(curves[0]!['points']).toContainEqual([500, 99]);
    await leave();
  });

  it('reads the report, the file and a log of a sweep, and the documentation', async () => {
    write('s.yaml', "name: s\ncommand: [sh, -c, 'echo hello']\n");
    expect((await run('s.yaml', '--plain')).code).toBe(0);
    const { client, call, leave } = await agentIn(folder());
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(
      expect.arrayContaining(['memrl://sweeps/s/report', 'memrl://sweeps/s/file', 'memrl://docs/agents']),
    );
    const text = async (uri: string) => {
      const { contents } = await client.readResource({ uri });
      return textIn(contents.map((part) => ({ type: '', text: 'text' in part ? part.text : '' })));
    };
    expect(await text('memrl://sweeps/s/report')).toContain('s · 1 done');
    expect(await text('memrl://sweeps/s/file')).toContain("command: [sh, -c, 'echo hello']");
    expect(await text('memrl://runs/s/runs/log')).toBe('hello\n');
    expect(await text('memrl://docs/sweep-file/tables')).toMatch(/^## Tables/);
    for (const { uri } of resources) expect(Buffer.byteLength(await text(uri)), uri).toBeLessThanOrEqual(most);
    await expect(text('memrl://sweeps/..%2F..%2Fetc/file')).rejects.toThrow('no-such-sweep');
    expect((await call('docs', { page: 'sweep-file' })).text).toContain('- tables');
    expect((await call('docs', { page: 'sweep-fil' })).text).toContain('Did you mean `sweep-file`?');
    await leave();
  });

  it('is answered beside lines that are no messages', async () => {
    write('s.yaml', 'name: s\ncommand: ["true"]\n');
    const { call, leave } = await agentIn(
      folder(),
      [],
      'hello\n{"jsonrpc": \n[]\n{"jsonrpc":"2.0","method":"made/up"}\n\u0000\n',
    );
    expect((await call('plan', { file: 's.yaml' })).text).toContain('"count":1');
    expect(await leave()).toBe(0);
  });
});

it('asks for confirmation as the command line does, and acts on what it may', async () => {
  write('patient.yaml', patient);
  const { ask, call, leave } = await agentIn(folder(), ['--allow', 'launch,kill,tag,note']);
  expect((await call('launch', { file: 'patient.yaml', slots: 1 })).text).toContain('3 runs are supervised');
  expect((await call('hold', { query: 'all', yes: true })).isError).toBe(true);
  expect((await ask<Error>('kill', { query: 'patient' })).error.message).toContain('3 runs');
  expect(await ask('kill', { query: 'n=3', dry_run: true })).toMatchObject({ runs: ['patient/n3'], done: false });
  expect(await ask('kill', { query: 'n=3' })).toMatchObject({ runs: ['patient/n3'], done: true });
  expect(await ask('tag', { query: 'n=2', tags: ['+good'] })).toMatchObject({ done: true });
  expect(await ask('note', { query: 'tag:good', text: '--host=elsewhere' })).toMatchObject({ done: true });
  const { runs } = await ask<Listed>('ls', { query: 'tag:good' });
  expect(runs).toMatchObject([{ run: 'patient/n2', note: '--host=elsewhere', tags: ['good'] }]);
  expect((await call('kill', { query: '--yes' })).isError).toBe(true);
  await leave();
});

it('works on the runs directory that it was started with', async () => {
  write('s.yaml', 'name: s\ncommand: ["true"]\n');
  const { ask, call, leave } = await agentIn(folder(), ['--runs', 'elsewhere', '--allow', 'launch']);
  expect((await call('launch', { file: 's.yaml' })).isError).toBe(false);
  expect(await ask('wait', { query: 's' })).toMatchObject({ states: { done: 1 } });
  expect(existsSync(at('elsewhere/s/runs/run.json'))).toBe(true);
  expect(existsSync(at('runs'))).toBe(false);
  await leave();
});

it('refuses an act that there is not, with those that there are', async () => {
  const { code, err } = await run('mcp', '--allow', 'destroy');
  expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining('launch, kill, resume') as string });
});
