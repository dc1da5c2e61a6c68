import { createHash } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { exportLines } from '../../src/cli/export/export-lines.js';
import { foundRuns, ownRunsAt, requiredPaths, viewedPaths } from '../../src/cli/viewed-paths.js';
import { buildReport } from '../../src/report/build-report.js';
import { pageHtml } from '../../src/report/page/page.js';
import { readPageData } from '../../src/report/page/page-data.js';
import { FolderFleet } from '../../src/view/folder-fleet.js';
import { KeptMetrics } from '../../src/view/kept-metrics.js';
import { openMetrics } from '../../src/metrics/run-metrics.js';
import { removeFolder } from '../remove-folder.js';

const temporary = mkdtempSync(join(tmpdir(), 'folder-fleet-'));
afterAll(() => removeFolder(temporary));
const fixtures = join(temporary, 'found');
cpSync(join(import.meta.dirname, '../fixtures/found'), fixtures, { recursive: true, preserveTimestamps: true });
const at = (folder: string) => ({ path: join(fixtures, folder), label: folder });

async function opened(folder: string, now?: () => number): Promise<FolderFleet> {
  const fleet = new FolderFleet([at(folder)], now);
  await fleet.find();
  await fleet.read();
  return fleet;
}

/** Content, mode and times of all below a folder. */
function picture(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => {
    const stat = lstatSync(join(folder, name));
    const content = stat.isFile()
      ? createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex')
      : '';
    return `${name} ${stat.mode} ${stat.mtimeMs} ${stat.ctimeMs} ${content}`;
  });
}

describe('folders of runs as a fleet', () => {
  it.each(['torch', 'hparams', 'wandb', 'lightning', 'hugging-face', 'stable-baselines3', 'trackio', 'multirun'])(
    'shows the runs of %s by rate, with seeds in subgroups',
    async (folder) => {
      const fleet = await opened(folder);
      const runs = [...fleet.runs.values()];
      expect(runs.map(({ name }) => name)).toEqual(['lr0.01_s0', 'lr0.01_s1', 'lr0.1_s0', 'lr0.1_s1']);
      expect(runs.map(({ subgroup }) => subgroup)).toEqual(['lr0.01', 'lr0.01', 'lr0.1', 'lr0.1']);
      expect([...fleet.sweeps.values()].map(({ groups }) => groups.length)).toEqual([1]);
      expect(runs.every(({ metrics, spark }) => Object.keys(metrics).length > 0 && spark.length > 0)).toBe(true);
      fleet.close();
    },
  );

  it('opens online folders of W&B as offline ones, and a link to the latest adds no run', async () => {
    const root = join(temporary, 'online/wandb');
    for (const name of readdirSync(join(fixtures, 'wandb')).filter((each) => each.startsWith('offline-run-')))
      cpSync(join(fixtures, 'wandb', name), join(root, name.replace('offline-', '')), { recursive: true });
    symlinkSync(join(root, readdirSync(root)[0]!), join(root, 'latest-run'));
    const fleet = new FolderFleet([{ path: join(temporary, 'online'), label: 'wandb' }]);
    await fleet.find();
    await fleet.read();
    const told = (all: FolderFleet) =>
      [...all.runs.values()].map(({ name, parameters, state, metrics }) => ({ name, parameters, state, metrics }));
    expect(told(fleet)).toEqual(told(await opened('wandb')));
  });

  it('opens folders of the tinker-cookbook with curves, parameters, seeds and what is done', async () => {
    for (const [rate, seed] of [0.001, 0.0001].flatMap((each) => [0, 1].map((number) => [each, number] as const))) {
      const run = join(temporary, `cookbook/${rate}-${seed}`);
      mkdirSync(join(run, 'iteration_000001'), { recursive: true });
      const settings = { learning_rate: rate, seed, model_name: 'm', dataset_builder: { batch_size: 4, seed } };
      writeFileSync(join(run, 'config.json'), JSON.stringify(settings, null, 2));
      const row = (step: number) =>
        `{"step": ${step}, "progress/done_frac": ${step / 4}, "env/all/reward/total": ${rate * step}, "optim/kl": NaN}\n`;
      writeFileSync(join(run, 'metrics.jsonl'), row(1) + row(2));
      const rollout =
        '{"iteration": 1, "total_reward": 1, "group_idx": 0, "traj_idx": 0, "steps": [{"ob_len": 3, "ac_len": 5}]}\n';
      writeFileSync(join(run, 'iteration_000001/train_rollout_summaries.jsonl'), rollout + rollout);
    }
    const fleet = new FolderFleet([{ path: join(temporary, 'cookbook'), label: 'cookbook' }]);
    await fleet.find();
    await fleet.read();
    const runs = [...fleet.runs.values()];
    expect(runs.map(({ subgroup }) => subgroup)).toEqual(['lr0.0001', 'lr0.0001', 'lr0.001', 'lr0.001']);
    expect(runs.map(({ parameters }) => parameters['learning_rate'])).toEqual([0.0001, 0.0001, 0.001, 0.001]);
    expect(runs.map(({ metrics }) => metrics['env/all/reward/total'])).toEqual([0.0002, 0.0002, 0.002, 0.002]);
    expect(runs[0]!.progress).toBe(0.5);
  });

  it('shows how runs ended where a writer says so', async () => {
    const fleet = await opened('wandb');
    const failed = [...fleet.runs.values()].filter(({ state }) => state === 'failed');
    expect(failed.map(({ name, reason }) => [name, reason])).toEqual([['lr0.01_s1', 'exit code 1']]);
  });

  it('shows the exception at the end of a log as the failure', async () => {
    const folder = join(temporary, 'failing/a');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'metrics.jsonl'), '{"step":1,"loss":2}\n{"step":2,"loss":1}\n');
    writeFileSync(
      join(folder, 'train.log'),
      'go\nTraceback (most recent call last):\n  File "a.py", line 1\nValueError: no data\n',
    );
    const fleet = new FolderFleet(
      [{ path: join(temporary, 'failing'), label: 'failing' }],
      () => Date.now() + 3600_000,
    );
    await fleet.find();
    await fleet.read();
    expect([...fleet.runs.values()]).toMatchObject([{ state: 'failed', reason: 'ValueError: no data' }]);
  });

  it('refuses every verb in words', async () => {
    const fleet = await opened('torch');
    expect(fleet.status.readOnly).toMatch(/only viewed/);
    expect(JSON.stringify(await fleet.act())).toMatch(/"ok":false.*Launch a sweep file/);
    expect(await fleet.request()).toMatchObject({ ok: false });
  });

  it('takes a run for lost that does not say how it ended, and has been quiet, where its writer says so of others', async () => {
    const root = join(temporary, 'lost');
    cpSync(join(fixtures, 'mlruns'), root, { recursive: true });
    for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
      if (!/\/meta\.yaml$/.test(name)) continue;
      const text = readFileSync(join(root, name), 'utf8');
      writeFileSync(
        join(root, name),
        text.replace(/^status: \d/m, 'status: 1').replace(/^end_time: .*/m, 'end_time: null'),
      );
    }
    const statesAt = async (now: number) => {
      const fleet = new FolderFleet([{ path: root, label: 'lost' }], () => now);
      await fleet.find();
      await fleet.read();
      return [...new Set([...fleet.runs.values()].map(({ state }) => state))];
    };
    const states = [await statesAt(Date.now() + 1_200_000), await statesAt(Date.now() + 3_600_000)];
    expect(states).toEqual([['running'], ['lost']]);
  });

  it('names the exception at the end of the log of a run whose writer has kept its exit code alone', async () => {
    const run = join(temporary, 'failed/1b83d790e56940459552705a6c59ad1c/.guild');
    mkdirSync(join(run, 'attrs'), { recursive: true });
    writeFileSync(join(run, 'attrs/exit_status'), '1\n');
    const trace = 'Traceback (most recent call last):\n  File "t.py", line 2, in <module>\n    f()\n';
    writeFileSync(join(run, 'output'), `loss 1\n${trace}ValueError: no such thing\n`);
    const fleet = new FolderFleet([{ path: join(temporary, 'failed'), label: 'failed' }]);
    await fleet.find();
    await fleet.read();
    const [row] = fleet.runs.values();
    expect([row!.state, row!.reason]).toEqual(['failed', 'ValueError: no such thing']);
  });

  it('follows files that grow, runs that come, and ended runs that go on', async () => {
    const root = join(temporary, 'growing');
    const row = (step: number) => `{"step":${step},"loss":${1 / step}}\n`;
    const write = (run: string, text: string) => {
      mkdirSync(join(root, run), { recursive: true });
      appendFileSync(join(root, run, 'metrics.jsonl'), text);
    };
    write('lr0.1_s0', row(1) + row(2));
    write('lr0.1_s1', row(1) + row(2));
    utimesSync(join(root, 'lr0.1_s1/metrics.jsonl'), 1, 1);
    const fleet = new FolderFleet([{ path: root, label: 'growing' }]);
    await fleet.find();
    await fleet.read();
    const stateOf = (name: string) => [...fleet.runs.values()].find((run) => run.name === name);
    expect(['s0', 's1'].map((name) => stateOf(name)?.state)).toEqual(['running', 'done']);
    const before = stateOf('s0');
    await fleet.look();
    expect(stateOf('s0')).toBe(before);
    write('lr0.1_s0', row(4));
    write('lr0.1_s1', row(5));
    write('lr0.2_s0', row(1) + row(2));
    await fleet.look();
    expect([...fleet.runs.values()].map(({ name, metrics }) => [name, metrics['loss']])).toEqual([
      ['lr0.1_s0', 0.25],
      ['lr0.1_s1', 0.2],
      ['lr0.2_s0', 0.5],
    ]);
    fleet.close();
  });

  it('has for charts what was read for the rows, and reads on where a run goes on', async () => {
    const root = join(temporary, 'charts');
    const path = join(root, 'a/metrics.jsonl');
    mkdirSync(join(root, 'a'), { recursive: true });
    writeFileSync(path, '{"step":1,"loss":2}\n{"step":2,"loss":1}\n');
    utimesSync(path, 1, 1);
    const fleet = new FolderFleet([{ path: root, label: 'charts' }]);
    await fleet.find();
    const charts = fleet.metrics(join(root, 'a'));
    const losses = () => [charts.refresh(), [...charts.series('loss').y]] as const;
    expect(losses()).toEqual([true, [2, 1]]);
    await fleet.read();
    rmSync(path);
    expect(losses()).toEqual([true, [2, 1]]);
    expect(losses()).toEqual([false, [2, 1]]);
    expect([charts.keys(), charts.more]).toEqual([['step', 'loss'], false]);
    writeFileSync(path, '{"step":1,"loss":2}\n{"step":2,"loss":1}\n{"step":3,"loss":0}\n');
    await fleet.look();
    expect(losses()).toEqual([true, [2, 1, 0]]);
    fleet.close();
  });

  it('keeps the metrics of ended runs in bounded memory, those that were used last', () => {
    const metrics = openMetrics(join(fixtures, 'torch/lr0.1_s0')).readNow();
    const bytes = metrics.all.reduce((sum, { table }) => sum + table.bytes, 0);
    expect(bytes).toBeGreaterThan(0);
    const kept = new KeptMetrics(2 * bytes);
    for (const name of ['a', 'b', 'a', 'c']) {
      if (kept.get(name) === null) kept.keep(name, metrics);
    }
    expect(['a', 'b', 'c'].map((name) => kept.get(name) !== null)).toEqual([true, false, true]);
  });

  it('shows a part of the runs while a long search goes on, and all of them at its end', async () => {
    const root = join(temporary, 'many');
    for (let run = 0; run < 300; run++) {
      mkdirSync(join(root, `lr${run}`), { recursive: true });
      writeFileSync(join(root, `lr${run}/metrics.jsonl`), '{"step":1,"loss":2}\n');
    }
    const fleet = new FolderFleet([{ path: root, label: 'many' }], Date.now, 0);
    const { first, all } = fleet.begin();
    await first;
    expect(fleet.status.isSearching).toBe(true);
    expect(fleet.runs.size).toBeGreaterThan(0);
    expect(fleet.runs.size).toBeLessThan(300);
    await all;
    expect([fleet.runs.size, fleet.status.isSearching]).toEqual([300, false]);
    fleet.close();
  });

  it('stops reading when it is closed', async () => {
    const fleet = new FolderFleet([at('torch')]);
    await fleet.find();
    const reading = fleet.read();
    fleet.close();
    await reading;
    expect(fleet.status.unread).toBeGreaterThan(0);
  });

  it('reports, draws and exports them, and writes nothing beside them', async () => {
    const before = picture(fixtures);
    for (const folder of readdirSync(fixtures, { withFileTypes: true }).filter((entry) => entry.isDirectory())) {
      const place = at(folder.name);
      const found = await foundRuns([place]);
      const report = await buildReport(place.path, { found });
      const data = await readPageData(place.path, { found, objective: null });
      const page = pageHtml(data, { command: 'x', spread: 'std', now: 0 });
      const lines = [...exportLines({ name: folder.name, directory: place.path, found }, 'csv', { kind: 'last' })];
      expect(report.sections.every(({ rows }) => rows.length > 0)).toBe(true);
      expect(page).toContain(found[0]!.name);
      expect(lines).toHaveLength(found.length + 1);
      expect(
        [...exportLines({ name: folder.name, directory: place.path, found }, 'jsonl', 'all')].length,
      ).toBeGreaterThan(found.length);
    }
    expect(picture(fixtures)).toEqual(before);
  });

  it('aggregates the seeds of a setting in the report', async () => {
    const { sections } = await buildReport(fixtures, { found: await foundRuns([at('multirun')]) });
    const rows = sections.flatMap((section) => (section.kind === 'metrics' ? section.rows : []));
    expect(rows.map(({ varies, seeds }) => [varies, seeds])).toEqual([
      [{ 'optim.lr': 0.01 }, 2],
      [{ 'optim.lr': 0.1 }, 2],
    ]);
  });
});

describe('paths on the command line', () => {
  const runs = join(temporary, 'runs');
  mkdirSync(join(runs, 'torch'), { recursive: true });

  it('are told from names of sweeps and queries', () => {
    const told = (...words: string[]) => viewedPaths(words, { runs });
    expect(told(join(fixtures, 'torch'), 'lr=0.1')).toMatchObject({ paths: [at('torch')], rest: ['lr=0.1'] });
    expect(told('torch').paths).toEqual([]);
    expect(told('status:failed').paths).toEqual([]);
    expect(told(join(fixtures, 'trackio/tproj.db')).paths).toMatchObject([{ label: 'tproj.db' }]);
  });

  it('have labels of their own', () => {
    mkdirSync(join(temporary, 'a/logs'), { recursive: true });
    mkdirSync(join(temporary, 'b/logs'), { recursive: true });
    const labels = requiredPaths(['a/logs', 'b/logs'].map((path) => join(temporary, path))).map(({ label }) => label);
    expect(labels).toEqual(['a-logs', 'b-logs']);
  });

  it('must be there', () => {
    expect(() => requiredPaths([join(temporary, 'none')])).toThrow(/There is no .*none/);
    expect(() => requiredPaths([join(fixtures, 'README.md')])).toThrow(
      /neither a folder nor a database of trackio or MLflow/,
    );
  });

  it('attach where they are a runs directory of this user, or a sweep in one', () => {
    mkdirSync(join(runs, '.supervisor'));
    expect(ownRunsAt(runs)).toEqual({ runs, sweep: null });
    expect(ownRunsAt(join(runs, 'torch'))).toEqual({ runs, sweep: 'torch' });
    expect([fixtures, join(fixtures, 'trackio/tproj.db')].map(ownRunsAt)).toEqual([null, null]);
  });
});
