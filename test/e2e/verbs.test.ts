import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chmodSync, existsSync, lstatSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { connect } from '../../src/client/ensure-supervisor.js';
import { hasProgram } from '../has-program.js';
import { type Ended, eventually, program, workplace } from './program.js';
import { PATIENCE_MS } from '../patience.js';

const place = workplace();
/** What a verb does is tried in this process; one call of each as it is shipped shows that it finds what it needs. */
const { write, read, run, runShipped, open, at, supervisorPid } = place;

type Run = {
  name: string;
  state: string;
  reason: string | null;
  attempt: number;
  priority: number;
  pid: number | null;
};
type Status = { sweep: string; state: string; slots: { gpus: object[] } };

/** Runs that say what they do until a file called `go` appears, and then end with their code. */
const patient = `
name: patient
command: [sh, -c, 'i=0; while [ ! -e go ]; do i=$((i+1)); echo "line $i"; echo "{\\"step\\":$i,\\"loss\\":0.5}" >> $0/metrics.jsonl; sleep 0.1; done; exit \${code}', '\${run_dir}']
grace: 1
groups:
  a: { parameters: { code: 0, n: [1, 2, 3] } }
  b: { parameters: { code: 3, n: 4 } }
`;

async function launch(...options: string[]): Promise<void> {
  write('patient.yaml', patient);
  const { code, err } = await run('patient.yaml', '--detach', ...options);
  expect({ code, err }).toEqual({ code: 0, err: '' });
}

async function runsNow(...query: string[]): Promise<Record<string, Run>> {
  const { out } = await run('ls', '--json', ...query);
  return Object.fromEntries((JSON.parse(out) as Run[]).map((each) => [each.name, each]));
}

/** Waits, as a client of its supervisor, until the runs are as wished; how they are in the end is what a failure shows. */
async function eventuallyStates(wished: Record<string, string>): Promise<void> {
  const fleet = await connect(at('runs'));
  if (fleet === null) throw new Error('No supervisor is up.');
  await fleet.ready();
  const states = () => Object.fromEntries([...fleet.runs.values()].map(({ name, state }) => [name, state as string]));
  const areThere = () => Object.entries(wished).every(([name, state]) => states()[name] === state);
  let timer: NodeJS.Timeout | undefined;
  const timeIsUp = new Promise((resolve) => (timer = setTimeout(resolve, PATIENCE_MS)));
  await Promise.race([fleet.until(areThere), timeIsUp]);
  clearTimeout(timer);
  fleet.close();
  expect(states()).toMatchObject(wished);
}

/** What `wait` says when its time is over; on a busy machine the supervisor needs more of it to answer at all. */
async function timedOut(seconds: number): Promise<Ended> {
  const late = await runShipped('wait', 'patient', '--timeout', String(seconds));
  return late.out.includes('has not answered') && seconds < 60 ? timedOut(4 * seconds) : late;
}

describe('looking', () => {
  it('tells where the runs are: ls, status, slots', async () => {
    await launch('--slots', '2');
    await eventuallyStates({ a_n1: 'running', a_n2: 'running', a_n3: 'queued', b: 'queued' });
    const table = (await runShipped('ls', 'n>=2', 'not', 'group:b')).out.split('\n');
    expect(table[0]).toMatch(/^state +run .*why$/);
    expect(table.slice(2, 4)).toEqual([
      expect.stringMatching(/^running +a_n2 /),
      expect.stringMatching(/^queued +a_n3 .*waiting for a slot/),
    ]);
    vi.stubEnv('COLUMNS', '44');
    const narrow = (await run('ls')).out.trimEnd().split('\n');
    vi.unstubAllEnvs();
    expect(narrow[0]).toMatch(/^state +run +time +why$/);
    expect(narrow.filter((line) => line.length > 44)).toEqual([]);
    expect(Object.keys(await runsNow('status:running'))).toEqual(['a_n1', 'a_n2']);

    const [status, ...others] = JSON.parse((await runShipped('status', 'patient', '--json')).out) as [
      Status,
      ...Status[],
    ];
    expect(others).toEqual([]);
    expect(status).toMatchObject({
      sweep: 'patient',
      state: 'running',
      slots: { cpu: { slots: 2, busy: 2 }, gpus: [] },
    });
    const [first] = JSON.parse((await run('ls', 'sweep:patient', '--json')).out) as object[];
    expect(first).toMatchObject({
      name: 'a_n1',
      priority: 0,
      retryAt: null,
      warning: null,
      exit: null,
      gpus: [],
    });
    expect(JSON.parse((await run('status', '--json')).out)).toHaveLength(1);
    expect((await run('status')).out).toMatch(
      /^patient: running · 0 of 4 done, 2 running, 2 queued.*\n {2}\S+ +0 of \d done/,
    );

    expect((await runShipped('slots')).out).toContain('CPU   2 of 2 slots busy');
    const changed = await run('slots', '3', '--json');
    expect(JSON.parse(changed.out)).toMatchObject({ cpu: { slots: 3 }, gpus: [], problem: null });
    await eventuallyStates({ a_n3: 'running', b: 'queued' });
  });

  it('finds what was starred, tagged and noted, also when supervisor and journal are gone', async () => {
    await launch('--slots', '1');
    expect((await runShipped('tag', 'n<=2', '+good', '+odd', '-new')).out).toMatch(
      /^tag 2 runs: .*\n2 runs changed\n$/,
    );
    expect((await runShipped('star', 'a_n2', 'b', '--json')).code).toBe(0);
    expect((await runShipped('note', 'a_n2', 'the best')).code).toBe(0);
    const unquoted = await run('note', 'a_n2', 'by', 'far', 'the', 'best');
    expect(unquoted.err).toContain("`memrl-tui note a_n2 'by far the best'`");
    expect((await run('tag', 'a_n1', '-odd')).code).toBe(0);
    const noted = { a_n1: { tags: ['good'] }, a_n2: { starred: true, tags: ['good', 'odd'], note: 'the best' } };
    expect(await runsNow('tag:good')).toMatchObject(noted);

    process.kill(supervisorPid()!, 'SIGKILL');
    rmSync(at('runs/.supervisor'), { recursive: true });
    const exported = (await run('export', 'patient', '--format', 'jsonl')).out.trim().split('\n');
    expect(exported.map((row) => JSON.parse(row) as object)).toMatchObject([noted.a_n1]);
    await launch('--slots', '1');
    expect(await runsNow('tag:good')).toMatchObject(noted);
    expect(Object.keys(await runsNow('is:starred'))).toEqual(['a_n2', 'b']);
    expect((await run('tag', 'all')).err).toMatch(/no tag to add/);
    expect((await run('star', '')).err).toMatch(/The query is empty/);
  });

  it('is a table of no rows where nothing matches, and starts the supervisor that was killed', async () => {
    await launch('--slots', '1');
    await eventuallyStates({ a_n1: 'running' });
    process.kill(supervisorPid()!, 'SIGKILL');
    const { code, out, err } = await run('ls', 'status:lost');
    expect({ code, out, err }).toEqual({ code: 0, out: '', err: 'None of 4 runs matches.\n' });
    await eventuallyStates({ a_n1: 'running' });
  });

  it('knows what runs wrote last that ended under a supervisor that is no more', async () => {
    const losses = Array.from({ length: 60 }, (_, n) => n + 1);
    const command = `[sh, -c, 'echo "{\\"loss\\": $1}" > $0/metrics.jsonl', '\${run_dir}', '\${n}']`;
    write('many.yaml', `command: ${command}\nparameters: { n: [${losses.join()}] }\n`);
    expect((await run('many.yaml', '--plain')).code).toBe(0);
    process.kill(supervisorPid()!, 'SIGKILL');
    type Told = { metrics: { loss: number } }[];
    // A busy machine has not read them all at the first answer, which then says so.
    const whenRead = async () => {
      const { out, err } = await run('ls', 'sweep:many', '--json');
      return err === '' && (JSON.parse(out) as Told);
    };
    const runs = await vi.waitUntil(whenRead, PATIENCE_MS);
    // Beside what the machine was used for, where a run lived long enough to be measured.
    expect(runs.map(({ metrics }) => metrics.loss)).toEqual(losses);
    process.kill(supervisorPid()!, 'SIGKILL');
    await vi.waitUntil(whenRead, PATIENCE_MS);
    expect(Object.keys(await runsNow('loss>=59'))).toEqual(['n59', 'n60']);
  });

  it('waits for the end of runs, or for the end of its time', async () => {
    await launch('--slots', '4');
    const late = await timedOut(0.2);
    expect(late.code).toBe(124);
    expect(late.out).toMatch(/^timed out: 0 done/);
    const good = run('wait', 'group:a', '--timeout', '1m');
    const all = run('wait', 'patient', '--json');
    write('go', '');
    expect(await good).toMatchObject({ code: 0, out: '3 done, 0 failed\n' });
    const { code, out } = await all;
    expect(code).toBe(3);
    expect(JSON.parse(out)).toMatchObject({
      timedOut: false,
      runs: [
        { state: 'done' },
        { state: 'done' },
        { state: 'done' },
        { state: 'failed', exit: { class: 'failed', code: 3 } },
      ],
    });
  });

  it('waits no longer than its time for a supervisor that stands still, or that cannot come up', async () => {
    await launch('--slots', '4');
    const pid = supervisorPid()!;
    process.kill(pid, 'SIGSTOP');
    const limited = Promise.all(
      [[], ['--json']].map((more) => runShipped('wait', 'patient', '--timeout', '1s', ...more)),
    );
    // Without a limit it takes 5 s to see that nobody answers.
    const unlimited = place.start('wait', 'patient');
    const first = await Promise.race([limited, once(unlimited, 'close').then(() => null)]);
    unlimited.kill();
    expect(first).not.toBeNull();
    const [late, json] = await limited;
    expect(late).toEqual({ code: 124, out: 'timed out: the supervisor has not answered\n', err: '' });
    expect({ ...json, out: JSON.parse(json!.out) as object }).toEqual({
      ...{ code: 124, err: '' },
      out: { version: 1, timedOut: true, runs: [] },
    });
    process.kill(pid, 'SIGCONT');
  });

  it('reports of a sweep beside a supervisor that stands still within its patience for it', async () => {
    await launch('--slots', '4');
    await eventually(() => existsSync(at('runs/patient/a_n1/run.json')), 'the record of a run');
    const pid = supervisorPid()!;
    process.kill(pid, 'SIGSTOP');
    // Without a limit it takes 5 s to see that nobody answers.
    const first = Promise.race([run('report', 'patient'), run('wait', 'patient').then(() => 'wait')]);
    expect(await first).toMatchObject({ code: 0, err: '' });
    process.kill(pid, 'SIGCONT');
  });

  it('follows the output of a run over its attempts until it ends', async () => {
    await launch('--slots', '1');
    await eventually(() => read('runs/patient/a_n1/output.log').includes('line 3'), 'three lines');
    let seen = '';
    const following = place.start('logs', 'a_n1', '-f', '-n', '1');
    following.stdout.on('data', (chunk: Buffer) => (seen += chunk.toString()));
    const ended = new Promise<number | null>((resolve) => following.once('close', resolve));
    await eventually(() => /line \d+\nline \d+\n/.test(seen), 'lines to be seen as they are written');
    appendFileSync(at('runs/patient/a_n1/output.log'), 'no end yet');
    write('go', '');
    expect(await ended).toBe(0);
    expect(seen).toContain('no end yet');

    const several = (await run('logs', 'group:a', '-n', '1')).out;
    expect(several).toMatch(/^a_n1 \| .*$/m);
    const one = await run('logs', 'a_n1', '--grep', '^line [12]$');
    expect(one.out).toBe('line 1\nline 2\n');
    appendFileSync(at('runs/patient/a_n1/output.log'), '\n10 %\r\u001b[31m20 %\n');
    expect((await run('logs', 'a_n1', '-n', '1')).out).toBe('20 %\n');
    expect((await run('logs', 'a_n1', '-n', '1', '--raw')).out).toBe('10 %\r\u001b[31m20 %\n');
  });

  it('exports and reports from the files alone', async () => {
    write('go', '');
    await launch('--slots', '4');
    expect((await run('wait', 'patient')).code).toBe(3);
    process.kill(supervisorPid()!, 'SIGKILL');
    const csv = (await runShipped('export', 'patient')).out.split('\n');
    expect(csv[0]).toBe('sweep,group,subgroup,name,state,attempts,startedAt,endedAt,seconds,starred,tags,note,code,n');
    expect(csv[4]).toMatch(/^patient,b,,b,failed,1,.*,3,4$/);
    const binary = await runShipped('export', 'patient', '-o', 'out.parquet');
    expect([binary.err, read('out.parquet').slice(0, 4)]).toEqual([
      expect.stringContaining('rows in out.parquet'),
      'PAR1',
    ]);
    expect((await run('export', 'patient', '--format', 'parquet')).err).toContain('Name a file: `-o runs.parquet`.');
    const { err, code } = await run('export', 'patient', '--format', 'json', '-o', 'out.json');
    expect({ code, err }).toEqual({ code: 0, err: '6 lines in out.json.\n' });
    expect(JSON.parse(read('out.json'))).toMatchObject([{ name: 'a_n1', parameters: { n: 1 } }, {}, {}, {}]);
    for (const words of [
      ['export', 'patient', '-o'],
      ['export', 'patient', '--format', 'parquet', '-o'],
      ['report', 'patient', '--html'],
    ]) {
      write('target', 'old');
      chmodSync(at('target'), 0o640);
      rmSync(at('link'), { force: true });
      symlinkSync('target', at('link'));
      expect((await run(...words, 'link')).code).toBe(0);
      expect([lstatSync(at('link')).isSymbolicLink(), statSync(at('target')).mode & 0o777]).toEqual([true, 0o640]);
      expect(read('target')).toMatch(/^(sweep,|PAR1|<!doctype html>)/i);
    }
    expect((await runShipped('report', 'patient')).out).toContain('patient · 3 done · 1 failed');
    const replay = await run('report', 'patient', '--would-stop', 'median min_iter=2', '--metric', 'minimize loss');
    expect(replay.code).toBe(2);
    expect(replay.err).toContain('has written metrics');
  });
});

describe('acting', () => {
  it('holds and releases, pauses and continues, kills and resumes, by query', async () => {
    await launch('--slots', '2');
    await eventuallyStates({ a_n1: 'running', a_n2: 'running' });
    expect((await runShipped('hold', 'status:queued', '-y')).out).toBe('hold 2 runs: {a_n3,b}\n2 runs held\n');
    await eventuallyStates({ a_n3: 'held', b: 'held' });
    const held = await run('report', 'patient');
    expect(held.out).toMatch(/^patient · 2 running · 2 held\n[^]*1 held/);
    expect(JSON.parse((await run('report', 'patient', '--json')).out)).toMatchObject({
      counts: { running: 2, held: 2 },
    });
    expect((await runShipped('priority', '7', 'b')).out).toContain('given priority 7');
    expect((await runShipped('release', 'b', 'a_n3')).code).toBe(0);
    await eventuallyStates({ a_n3: 'queued', b: 'queued' });

    expect((await runShipped('pause', 'a_n1')).code).toBe(0);
    await eventuallyStates({ a_n1: 'paused' });
    expect((await runShipped('continue', 'a_n1')).code).toBe(0);
    await eventuallyStates({ a_n1: 'running' });

    const planned = await run('kill', 'n<=2', 'or', 'group:b', '--dry-run');
    expect(planned).toMatchObject({ code: 0, out: 'kill 3 runs: {a_n1,a_n2,b}\n' });
    await eventuallyStates({ a_n1: 'running' });

    const killed = JSON.parse((await runShipped('kill', 'a_n1', '--wait', '--json')).out) as object;
    expect(killed).toMatchObject({ verb: 'kill', runs: ['patient/a_n1'], unfitting: [], done: true });
    // The one of the higher priority took its place.
    await eventuallyStates({ a_n1: 'killed', b: 'running', a_n3: 'queued' });
    expect((await run('kill', 'patient', '--wait', '-y')).out).toContain('(1 left as they are)');
    await eventuallyStates({ a_n1: 'killed', a_n2: 'killed', a_n3: 'killed', b: 'killed' });

    write('go', '');
    expect((await runShipped('resume', 'patient')).code).toBe(0);
    expect((await run('wait', 'patient')).code).toBe(3);
    expect((await runShipped('retry', 'b')).out).toContain('1 run queued again');
    await run('wait', 'b');
    expect((await runsNow('b'))['b']).toMatchObject({ state: 'failed', attempt: 3 });
  });

  it('asks a person before it touches several runs', async () => {
    await launch('--slots', '4');
    await eventuallyStates({ a_n1: 'running', a_n2: 'running', a_n3: 'running', b: 'running' });
    const no = open('kill', 'group:a');
    await no.waitFor((rows) => rows.some((row) => row.includes('Proceed? [y/N]')));
    no.write('\r');
    expect((await no.ended()).code).toBe(2);
    expect(no.output).toContain('kill 3 runs: a_n{1,2,3}');
    expect(no.output).toContain('Nothing was done.');
    no.close();
    const noJson = open('kill', 'group:a', '--json');
    await noJson.waitFor((rows) => rows.some((row) => row.includes('Proceed? [y/N]')));
    noJson.write('n\r');
    expect((await noJson.ended()).code).toBe(2);
    expect(noJson.output).toMatch(/"verb": "kill"[^]*"done": false/);
    noJson.close();
    await eventuallyStates({ a_n1: 'running' });
    const yes = open('kill', 'group:a');
    await yes.waitFor((rows) => rows.some((row) => row.includes('Proceed? [y/N]')));
    yes.write('y\r');
    expect((await yes.ended()).code).toBe(0);
    yes.close();
    await eventuallyStates({ a_n1: 'killed', a_n2: 'killed', a_n3: 'killed', b: 'running' });
    // One run needs no question.
    expect((await run('stop', 'patient', '--dry-run')).out).toBe('kill 1 run: b (3 left as they are)\n');
    expect((await runShipped('stop', 'patient', '--wait')).code).toBe(0);
    await eventuallyStates({ b: 'killed' });
    // What has ended needs no kill: scripts may ask twice.
    for (const words of [['patient'], ['a_n1'], ['all', '--wait']])
      expect(await run('kill', ...words)).toMatchObject({
        code: 0,
        out: expect.stringContaining('nothing to do, ') as string,
      });
  });
});

describe('without a terminal', () => {
  it('no run is touched by words that say nothing, and several only with -y', async () => {
    await launch('--slots', '3');
    const before = { a_n1: 'running', a_n2: 'running', a_n3: 'running', b: 'queued' };
    await eventuallyStates(before);
    const verbs = ['kill', 'stop', 'resume', 'retry', 'hold', 'release', 'pause', 'continue'].map((verb) => [verb]);
    for (const verb of [...verbs, ['priority', '3']]) {
      // As `kill "$UNSET" -y` does.
      for (const words of [[''], [' '], ['""'], ['group:a', '']]) {
        const { code, out, err } = await run(...verb, ...words, '-y');
        expect({ verb, words, code, out }).toEqual({ verb, words, code: 2, out: '' });
        expect(err).toMatch(/`all` for every run|For every run use all/);
      }
    }
    for (const words of [
      ['kill', 'all'],
      ['pause', 'group:a'],
      ['stop', 'patient'],
      ['kill', 'patient', '--json'],
    ]) {
      const { code, err } = await run(...words);
      expect({ words, code, err }).toMatchObject({
        code: 2,
        err: expect.stringContaining('Confirm with -y') as string,
      });
    }
    await eventuallyStates(before);
    expect((await run('ls', '')).out.match(/^(running|queued)/gm)).toHaveLength(4);
    expect((await run('kill', 'a_n1', '--wait')).code).toBe(0);
    // Not a disturbance.
    expect((await run('priority', '3', 'all')).code).toBe(0);
    expect((await run('kill', 'all', '-y', '--wait')).code).toBe(0);
    await eventuallyStates({ a_n1: 'killed', a_n2: 'killed', a_n3: 'killed', b: 'killed' });
  });
});

describe('a refusal', () => {
  it('comes with what to do, and exit code 2', async () => {
    await launch('--slots', '1');
    await eventuallyStates({ a_n1: 'running' });
    const refused: [string[], RegExp][] = [
      [['kill', 'a_n9'], /No run matches `a_n9`\.[^]*→ Did you mean `a_n1`\?/],
      [['hold', 'a_n1'], /is running; pause it instead/],
      [['release', 'a_n1'], /is not held/],
      [['pause', 'b'], /is not running; hold it instead/],
      [['continue', 'a_n1'], /is not paused/],
      [['resume', 'a_n1'], /is running/],
      [['retry', 'a_n1'], /is running/],
      [['priority', 'high', 'b'], /`high` is not a priority/],
      [['type', 'a_n1', 'x'], /reads nothing that is typed[^]*`stdin: type`/],
      [['type', 'a_n1'], /There is a run, and no line to type[^]*→ Write the line after the run/],
      [['wait', 'statsu:done'], /no field statsu:[^]*Did you mean `status`\?/],
      [['logs', 'code=0', 'lr>1'], /No run has a parameter or a metric `lr`/],
      [['logs', 'a_n1', '--grep', '('], /--grep \( is not a regular expression/],
      [['status', 'patent'], /no sweep `patent`[^]*Did you mean `patient`\?/],
      [['stop', 'patent'], /Did you mean `patient`\?/],
      [['export', 'patent'], /Did you mean `patient`\?/],
      [['export', 'patient', '--format', 'xml'], /--format xml is not known/],
      [['export', 'patient', '-o', 'none/x.csv'], /Cannot write none\/x\.csv/],
      [['report', 'patent'], /There is no sweep/],
      [['report', 'patient', '--would-stop', 'magic'], /magic/],
      [['drain', '7'], /GPU 7/],
      [['drain', 'x'], /"x" is none/],
      [['slots', '-2'], /-2/],
      [['wait', 'patient', '--timeout', 'soon'], /--timeout soon is not a length of time/],
      [['completion', 'fishy'], /Did you mean `fish`\?/],
      [
        ['kill'],
        /^Missing required argument 'query'\.\n\n→ Type `memrl-tui kill \[options\] <query\.\.\.>`; `memrl-tui kill --help` lists/,
      ],
      [
        ['ls', '--colums', 'N'],
        /^Unknown option '--colums'\.\n\n→ Did you mean --columns\? Type `memrl-tui ls \[options\]/,
      ],
      [['--detatch', 'x.yaml'], /^Unknown option '--detatch'\.\n\n→ Did you mean --detach\? `memrl-tui --help` lists/],
      [['slots', '1', '2'], /^Too many arguments for 'slots'/],
      [['kil', 'a_n1'], /no command and no sweep file `kil`[^]*Did you mean `memrl-tui kill a_n1`\?/],
      [['mysweep'], /Cannot read the sweep file mysweep: there is no such file/],
    ];
    const answers = await Promise.all(refused.map(([words], at) => (at === 0 ? runShipped : run)(...words)));
    for (const [index, [words, says]] of refused.entries()) {
      const { code, out, err } = answers[index]!;
      const known =
        /no sweep|There is no sweep/.test(err) && !/sweep file/.test(err) ? 4 : /No run matches/.test(err) ? 5 : 2;
      expect({ words, code, out }).toEqual({ words, code: known, out: '' });
      expect(err).toMatch(says);
      expect(err).not.toMatch(/\n {4}at /);
    }
  });

  it('is JSON with a code of its own for who asked for JSON', async () => {
    await launch('--slots', '1');
    const table: [string[], { code: string; exitCode: number; fix: RegExp }][] = [
      [['status', 'patent', '--json'], { code: 'no-such-sweep', exitCode: 4, fix: /Did you mean `patient`/ }],
      [['kill', 'a_n9', '--json'], { code: 'no-such-run', exitCode: 5, fix: /Did you mean `a_n1`/ }],
      [['best', 'a_n9', '--json'], { code: 'no-such-run', exitCode: 5, fix: /ls/ }],
      [['wait', 'n=', '--json'], { code: 'refused', exitCode: 2, fix: /./ }],
      [['wait', '--json'], { code: 'refused', exitCode: 2, fix: /memrl-tui wait \[options\] <query...>/ }],
    ];
    for (const [words, { fix, ...expected }] of table) {
      const { code, out, err } = await run(...words);
      const { error } = JSON.parse(out) as { error: { code: string; exitCode: number; message: string; fix: string } };
      expect({ words, ...error, code: error.code }).toMatchObject({ words, ...expected });
      expect(error.fix).toMatch(fix);
      expect(code).toBe(expected.exitCode);
      expect(err).toContain(error.message);
    }
  });

  it('comes from every verb where nothing was ever launched, and makes nothing', async () => {
    const lines = 'ls,status,wait x,logs x,kill x,stop x,slots,drain 0,export x,report x,attach'.split(',');
    const answers = await Promise.all(lines.map((line) => run(...line.split(' '))));
    for (const [index, { code, err }] of answers.entries()) {
      expect({ line: lines[index], code, err }).toMatchObject({
        code: expect.toBeOneOf([2, 4, 5]) as number,
        err: expect.stringContaining('→') as string,
      });
    }
    expect(existsSync(at('runs'))).toBe(false);
  });
});

describe('GPUs', () => {
  const before = { ...process.env };
  afterEach(() => {
    process.env = { ...before };
  });

  it('are shown by status and slots, drained, and no longer drained', async () => {
    process.env['PATH'] = `${join(process.cwd(), 'test/fixtures')}:${before['PATH']}`;
    process.env['FAKE_GPUS'] = '2';
    await launch('--gpus', '1,0', '--slots', '1');
    // One for each of the two GPUs, the preferred one first.
    await eventuallyStates({ a_n1: 'running', a_n2: 'running', a_n3: 'queued' });
    const gpus = async () => (JSON.parse((await run('slots', '--json')).out) as Status['slots']).gpus;
    expect(await gpus()).toMatchObject([
      { gpu: '1', runs: ['patient/a_n1'], drained: false },
      { gpu: '0', runs: ['patient/a_n2'], drained: false },
    ]);
    expect((await runShipped('drain', '1')).code).toBe(0);
    expect((await run('kill', 'gpu:1', '--wait')).out).toContain('kill 1 run: a_n1');
    expect((await run('slots')).out).toMatch(/^ +1 .* 0 .*drained$/m);
    await eventuallyStates({ a_n3: 'queued' });
    expect((await run('drain', '1', '--undo')).code).toBe(0);
    await eventuallyStates({ a_n3: 'running' });
    expect((await run('ls', 'sweep:patient', '--json')).out).toMatch(/"gpus": \[\s+1\s+\]/);
  });
});

describe('the rest of the command line', () => {
  it('shows its verbs by what they are for', async () => {
    const { out, code } = await runShipped('--help');
    expect(code).toBe(0);
    const places = ['Launch:', 'Look:', 'ls [query...]', 'Act:', 'kill <query...>', 'Machine:', 'doctor'].map((word) =>
      out.indexOf(word),
    );
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(places[0]).toBeGreaterThan(0);
    expect(out).toContain('memrl-tui/preferences.json');
    expect((await run('kill', '--help')).out).toContain('status:failed,lost');
  });

  it('examines the machine', async () => {
    const { out } = await runShipped('doctor', '--json');
    expect(JSON.parse(out)).toMatchObject({
      checks: expect.arrayContaining([expect.objectContaining({ name: 'Node' })]) as object,
    });
  });
});

describe.skipIf(!hasProgram('bash', 'completion is tried in it'))('completion in bash', () => {
  beforeEach(() => launch('--slots', '1'));

  /** What bash is told for each line: the script as a person would load it, asked as bash asks it. */
  function offered(...lines: string[]): string[] {
    const asking = lines.map(
      (line) => `COMP_LINE=${JSON.stringify(line)} COMP_POINT=${line.length}; _memrl_tui; echo "\${COMPREPLY[*]}"`,
    );
    const script = ['eval "$(memrl-tui completion bash)"', ...asking].join('\n');
    const env = { ...process.env, PATH: `${join(dirname(program), 'bin')}:${process.env['PATH']}` };
    const { stdout } = spawnSync('bash', ['--norc', '-c', script], { cwd: place.folder(), env, encoding: 'utf8' });
    return stdout.trimEnd().split('\n');
  }

  it('offers verbs, options, sweeps, runs and queries', async () => {
    await eventuallyStates({ a_n1: 'running' });
    const table: Record<string, string> = {
      'memrl-tui rel': 'release',
      'memrl-tui kill --dr': '--dry-run',
      'memrl-tui stop pa': 'patient',
      'memrl-tui logs a_n': 'a_n1 a_n2 a_n3',
      'memrl-tui kill status:qu': 'queued',
      'memrl-tui kill code=': '0 3',
    };
    expect(offered(...Object.keys(table))).toEqual(Object.values(table));
  });

  it('knows the runs by their files where nobody looks after them', async () => {
    await eventually(() => existsSync(at('runs/patient/a_n1/run.json')), 'the first run to be noted');
    process.kill(supervisorPid()!, 'SIGKILL');
    expect(offered('memrl-tui logs a_n', 'memrl-tui logs n=')).toEqual(['a_n1', '1']);
  });
});
