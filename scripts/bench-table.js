/**
 * The table at the end of `npm run bench`: each budget's figure now, in the build before and in older ones, and what is wanted.
 *
 * A figure is read from what a bench prints. An older commit is built once, in a temporary folder, and runs its own bench, which
 * fits its sources; benches that only call the programs are ours, and are told which build to call (`onPrograms`).
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Of these an older commit need have no bench: they take the build to call from BENCH_DIST. */
const onPrograms = new Set(['commands', 'idle']);

const window = (runs, group) => new RegExp(`^${runs} runs, 120 × 40\\n\\s+control window +${group}`, 'm');

/** `figure`: the first group is the number. `wanted`: at most. */
const budgets = [
  {
    bench: 'commands',
    what: 'CPU of `memrl-tui --version`',
    unit: '× Node',
    figure: /--version: .* ms, ([\d.]+) ×/,
    wanted: 1.25,
  },
  {
    bench: 'commands',
    what: 'CPU of `memrl-tui ls` in an empty runs directory',
    unit: '× Node',
    figure: / ls, .* ms, ([\d.]+) ×/,
    wanted: 1.8,
  },
  { bench: 'commands', what: '… wall, best of nine', unit: 'ms', figure: / ls, .*wall ([\d.]+) ms/, wanted: 201 },
  {
    bench: 'commands',
    what: 'CPU of `sweeps/abcd.yaml --dry-run`',
    unit: '× Node',
    figure: /--dry-run: .* ms, ([\d.]+) ×/,
    wanted: 4,
  },
  {
    bench: 'commands',
    what: 'CPU of `memrl --help`',
    unit: '× Node',
    figure: /memrl --help: .* ms, ([\d.]+) ×/,
    wanted: 1.8,
  },
  { bench: 'commands', what: 'size of `dist`', unit: 'MB', figure: /dist: ([\d.]+) MB/, wanted: 5 },
  {
    bench: 'idle',
    what: 'idle supervisor, two sleeping runs, seconds 4 to 10',
    unit: '% of a core',
    figure: /second 4 to 10: ([\d.]+) %/,
    wanted: 0.1,
  },
  {
    bench: 'idle',
    what: '… seconds 10 to 40',
    unit: '% of a core',
    figure: /second 10 to 40: ([\d.]+) %/,
    wanted: 0.1,
  },
  {
    bench: 'idle',
    what: '… seconds 40 to 70',
    unit: '% of a core',
    figure: /second 40 to 70: ([\d.]+) %/,
    wanted: 0.1,
  },
  { bench: 'idle', what: '… its memory', unit: 'MB', figure: /its memory: ([\d.]+) MB/, wanted: 60 },
  {
    bench: 'idle',
    what: 'CPU of a launch of 300 × `/bin/true`, client and supervisor',
    unit: 's',
    figure: /true: ([\d.]+) s of CPU/,
    wanted: 1.64,
  },
  {
    bench: 'adopt',
    what: '1,000 running runs taken over after `kill -9`',
    unit: 'ms',
    figure: /median ([\d.]+) ms until a client/,
    wanted: 480,
  },
  {
    bench: 'attach',
    what: 'first picture after `attach`, 1,000 runs',
    unit: 'ms',
    figure: /1,000 runs: median ([\d.]+) ms/,
    wanted: 156,
  },
  { bench: 'attach', what: '… 10,000 runs', unit: 'ms', figure: /10,000 runs: median ([\d.]+) ms/, wanted: 272 },
  {
    bench: 'dispatch',
    what: 'dispatch of 500 × `true` on two slots',
    unit: '× Node',
    figure: /the supervisor takes ([\d.]+) ×/,
    wanted: 1.5,
  },
  {
    bench: 'dispatch',
    what: 'memory of the supervisor with 10,000 runs',
    unit: 'MB',
    figure: /runs, ([\d.]+) MB \(peak \d+\) with 10000/,
    wanted: 90,
  },
  {
    bench: 'latency',
    what: 'key → frame, 1,000 runs × 10 updates/s, 120×40: p50',
    unit: 'ms',
    figure: window('1,000', '([\\d.]+) ms'),
    wanted: 3,
  },
  {
    bench: 'latency',
    what: '… p99',
    unit: 'ms',
    figure: window('1,000', '[\\d.]+ ms +[\\d.]+ ms +([\\d.]+) ms'),
    wanted: 8,
  },
  {
    bench: 'latency',
    what: '… CPU of the window',
    unit: '% of a core',
    figure: window('1,000', '(?:[\\d.]+ ms +){3}([\\d.]+) %'),
    wanted: 8,
  },
  {
    bench: 'latency',
    what: '… its memory',
    unit: 'MB',
    figure: window('1,000', '(?:[\\d.]+ ms +){3}[\\d.]+ % +([\\d.]+) MB'),
    wanted: 90,
  },
  {
    bench: 'latency',
    what: '… 10,000 runs: p99',
    unit: 'ms',
    figure: window('10,000', '[\\d.]+ ms +[\\d.]+ ms +([\\d.]+) ms'),
    wanted: 16,
  },
  {
    bench: 'latency',
    what: '… its memory',
    unit: 'MB',
    figure: window('10,000', '(?:[\\d.]+ ms +){3}[\\d.]+ % +([\\d.]+) MB'),
    wanted: 150,
  },
  {
    bench: 'metrics',
    what: '500 growing files of five formats',
    unit: '% of a core',
    figure: /each: ([\d.]+) % of a core/,
    wanted: 5,
  },
  {
    bench: 'metrics',
    what: '2 GB of JSON lines: first curve',
    unit: 'ms',
    figure: /2 GB of JSON lines .*first curve after ([\d.]+) ms/,
    wanted: 300,
  },
  {
    bench: 'metrics',
    what: '… memory of the process',
    unit: 'MB',
    figure: /2 GB of JSON lines .*process at most ([\d.]+) MB/,
    wanted: 150,
  },
  {
    bench: 'metrics',
    what: '… all of it',
    unit: 's',
    figure: /2 GB of JSON lines .*\n\s+all of it after ([\d.]+) s/,
    wanted: null,
  },
  { bench: 'many', what: '50,000 runs submitted', unit: 'ms', figure: /submit 50000 runs: ([\d.]+) ms/, wanted: 3000 },
  {
    bench: 'many',
    what: '… up again after `kill -9`',
    unit: 'ms',
    figure: /until hello: median ([\d.]+) ms/,
    wanted: 1000,
  },
  {
    bench: 'many',
    what: '… until a client has all rows',
    unit: 'ms',
    figure: /rows: median ([\d.]+) ms/,
    wanted: 2000,
  },
];

/** Whether the table has rows of that bench. */
export function isInTable(bench) {
  return budgets.some((budget) => budget.bench === bench);
}

/** Runs the benches of this build and of the commits, in turns; gives the lines of the table, as Markdown. `onFirst` gets our first output. */
export function compareBuilds(root, names, { commits, rounds, onFirst }) {
  const builds = [
    { name: 'now', tree: root },
    ...commits.map((commit) => ({ name: shortOf(root, commit), tree: treeOf(root, commit) })),
  ];
  const outputs = new Map(builds.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const build of builds) {
      const output = names.map((name) => ({ name, text: benchOutput(root, build.tree, name) }));
      if (round === 0 && build.tree === root) onFirst(output.map(({ text }) => text).join(''));
      outputs.get(build.name).push(output);
    }
  }
  return tableLines(
    names,
    builds.map(({ name }) => ({ name, rounds: outputs.get(name) })),
  );
}

/** The table of figures in Markdown: a row for each budget of these benches, a column for each build, the median over its rounds. */
export function tableLines(names, builds) {
  const rows = budgets
    .filter(({ bench }) => names.includes(bench))
    .map((budget) => {
      const figures = builds.map(({ rounds }) =>
        median(rounds.map((outputs) => figureOf(budget, outputs)).filter(Number.isFinite)),
      );
      return [
        budget.what,
        ...figures.map((figure) => inUnit(figure, budget.unit)),
        budget.wanted === null ? '–' : `≤ ${inUnit(budget.wanted, budget.unit)}`,
      ];
    });
  if (rows.length === 0) return [];
  const head = ['what', ...builds.map(({ name }) => name), 'wanted'];
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
}

/** Puts the table between its two marks in a page. */
export function writeTable(page, lines) {
  const marks = /(<!-- budgets -->\n)[\s\S]*?(<!-- end of budgets -->)/;
  const text = readFileSync(page, 'utf8');
  if (!marks.test(text)) throw new Error(`${page} has no place for the table of budgets.`);
  writeFileSync(
    page,
    text.replace(marks, (_, first, last) => `${first}\n${lines.join('\n')}\n\n${last}`),
  );
}

function figureOf({ bench, figure }, outputs) {
  const text = outputs.find(({ name }) => name === bench)?.text ?? '';
  return Number(figure.exec(text)?.[1] ?? NaN);
}

function inUnit(figure, unit) {
  if (figure === undefined) return '–';
  const digits = figure >= 20 ? 0 : figure >= 3 ? 1 : 2;
  return `${Number(figure.toFixed(digits)).toLocaleString('en')} ${unit}`;
}

function median(figures) {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)];
}

function benchOutput(root, tree, name) {
  const isOurs = tree === root || onPrograms.has(name);
  if (!isOurs && !existsSync(join(tree, `bench/${name}.ts`))) return '';
  const env = { ...process.env, BENCH_ALONE: '1', ...(isOurs && { BENCH_DIST: join(tree, 'dist') }) };
  const options = { cwd: isOurs ? root : tree, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] };
  const { stdout, status } = spawnSync(process.execPath, ['scripts/bench.js', name], options);
  if (status !== 0) console.error(`${name} failed in ${tree}`);
  return stdout;
}

/** A checkout of that commit with its own packages and its own build. Made once: commits do not change. */
function treeOf(root, commit) {
  const tree = join(tmpdir(), 'memrl-bench', shortOf(root, commit));
  if (existsSync(join(tree, 'dist/memrl-tui.js'))) return tree;
  mkdirSync(tree, { recursive: true });
  const archive = execFileSync('git', ['archive', commit], { cwd: root, maxBuffer: 1 << 30 });
  execFileSync('tar', ['-xf', '-', '-C', tree], { input: archive });
  console.error(`building ${commit} in ${tree}`);
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: tree, stdio: ['ignore', 'ignore', 'inherit'] });
  return tree;
}

function shortOf(root, commit) {
  return execFileSync('git', ['rev-parse', '--short=7', commit], { cwd: root, encoding: 'utf8' }).trim();
}
