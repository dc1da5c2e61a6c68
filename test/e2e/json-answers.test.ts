import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type AnswerName, answerNames } from '../../src/cli/answers/answer-table.js';
import { versionedSchema } from '../../src/cli/answers/json-schema.js';
import { sweepIn } from '../report/sweep-in-test.js';
import { workplace } from './program.js';

const { at, run, runShipped, write } = workplace();
const before = { ...process.env };
afterEach(() => {
  process.env = { ...before };
});

/** Those with lr=1 fail, of the others some write infinities; one more goes on until there is a file `go`. */
const little = `name: little
description: a few runs
metric: { name: loss, goal: minimize }
metrics: { show: [loss] }
breaker: false
groups:
  quick:
    title: Quick ones
    subgroup: 'lr {lr}'
    command: [sh, -c, 'if [ "$1" = 1 ]; then echo "ValueError: no such shape" >&2; exit 1; fi; echo "{\\"step\\": 1, \\"loss\\": $1, \\"top\\": Infinity, \\"odd\\": NaN}" > "$0/metrics.jsonl"; echo a > "$0/big.ckpt"', '\${run_dir}', '\${lr}']
    parameters: { lr: [0.1, 0.5, 1], seed: [0, 1], options: { values: [[1, null, x]] } }
  patient: { needs: [], command: [sh, -c, 'until [ -e go ]; do sleep 0.05; done'] }
  last: { needs: quick, command: ['true'] }
resources: { gpus: 0 }
`;

type Call = readonly [answer: AnswerName, line: string, code?: number];

/** As a person types them; the exit code is 0 if none stands there. */
const beforeLaunch: readonly Call[] = [
  ['ls', 'ls'],
  ['error', 'status', 4],
  ['error', 'best', 4],
  ['error', 'kill all', 5],
  ['plan', 'little.yaml --dry-run'],
  ['plan', 'grid lr=0.1,0.2 --dry-run -- python t.py'],
  ['doctor', 'doctor'],
  ['restart', 'restart --end'],
  ['error', 'doctor --metrics little/nothing', 5],
  ['error', 'ls --nonsense', 2],
  ['error', 'nothing.yaml --dry-run', 2],
];

const whileOneRuns: readonly Call[] = [
  ['plan', 'little.yaml --set seed=7 --dry-run'],
  ['plan', 'little.yaml --dry-run'],
  ['ls', 'ls'],
  ['ls', 'ls no-such-name'],
  ['status', 'status little'],
  ['best', 'best'],
  ['best', 'best sweep:little --across --importance'],
  ['events', 'events'],
  ['slots', 'slots 3'],
  ['drain', 'drain 0'],
  ['drain', 'drain 0 --undo'],
  ['act', 'hold little/patient --dry-run'],
  ['act', 'priority 3 patient'],
  ['act', 'kill quick'],
  ['error', 'hold quick', 2],
  ['error', 'kill nobody', 5],
  ['error', 'status litle', 4],
  ['annotate', 'star lr=0.5'],
  ['annotate', 'tag lr=0.1 +good'],
  ['annotate', 'note lr=0.1 --remove --dry-run'],
];

const afterwards: readonly Call[] = [
  ['wait', 'wait little', 3],
  ['ls', 'ls'],
  ['status', 'status'],
  ['du', 'du'],
  ['report', 'report little'],
  ['report', 'report little --value mean=2'],
  ['report', 'report told --runs told'],
  ['report-would-stop', 'report little --would-stop median'],
  ['error', 'report little --against main', 2],
  ['doctor-metrics', 'doctor --metrics little/quick_lr0.1_s0'],
  ['doctor-metrics', 'doctor --metrics little/patient', 2],
  ['clean', 'clean quick --pattern *.ckpt --dry-run'],
  ['clean', 'clean status:failed --failed -y'],
  ['error', 'clean quick', 2],
  ['restart', 'restart'],
  ['restart', 'restart --end'],
];

describe('what `--json` prints', () => {
  it('has the fields of its schema and no others, whatever the verb and however the sweep is', async () => {
    process.env['PATH'] = `${join(process.cwd(), 'test/fixtures')}:${before['PATH']}`;
    process.env['FAKE_GPUS'] = '1';
    const answered = new Set<AnswerName>();
    const problems: object[] = [];
    const tryAll = async (calls: readonly Call[]) => {
      for (const [name, line, expected = 0] of calls) {
        const words = line.split(' ');
        const behind = words.includes('--') ? words.splice(words.indexOf('--')) : [];
        const { code, out, err } = await run(...words, '--json', ...behind);
        if (code !== expected) problems.push({ line, code, err });
        const texts = name === 'events' ? out.trimEnd().split('\n') : [out];
        problems.push(
          ...texts.map((text) => ({ line, wrong: wrongIn(name, text) })).filter(({ wrong }) => wrong !== null),
        );
        answered.add(name);
      }
    };
    write('little.yaml', little);
    mkdirSync(at('told'));
    sweepIn(at('told/told'), [{ name: 'a', rows: [{ step: 1, loss: 1 }] }]);
    write('told/told/study.json', JSON.stringify(study));
    mkdirSync(at('runs'));
    await tryAll(beforeLaunch);
    expect((await run('little.yaml', '--detach', '--slots', '4', '--gpus', '0')).code).toBe(0);
    await tryAll([['wait', 'wait quick', 3]]);
    await tryAll(whileOneRuns);
    const late = await runShipped('wait', 'little', '--timeout', '0.1s', '--json');
    expect({ code: late.code, wrong: wrongIn('wait', late.out) }).toEqual({ code: 124, wrong: null });
    write('go', '');
    await tryAll(afterwards);
    expect(problems).toEqual([]);
    expect(answerNames.filter((name) => !answered.has(name))).toEqual([]);
  });
});

/** What a program has to say beyond metrics, with every kind of cell. */
const study = {
  title: 'told',
  tables: [
    {
      columns: ['a', { title: 'b', spare: 2 }],
      rows: [
        ['text', 1],
        [null, { value: 1, interval: [0, null], n: 3, text: '1' }],
      ],
      notes: ['below'],
    },
  ],
  figures: [{ title: 'f', x: 'x', y: 'y', series: [{ x: [1], y: [2] }], bars: [{ x: ['a'], y: [2], at: [1] }] }],
  verdicts: [{ claim: 'c', verdict: 'not decided', figures: ['1 against 2'] }],
};

/** Why a text is not the answer: what zod says, or the fields that the schema lacks, which it leaves out; null: it is. */
function wrongIn(name: AnswerName, text: string): object | null {
  const value: unknown = JSON.parse(text);
  const { data, error } = versionedSchema(name).safeParse(value);
  if (error !== undefined) return error.issues;
  const [told, known] = [value, data].map((each) => JSON.stringify(sorted(each)));
  return told === known ? null : { told, known };
}

/** With its fields in the order of their names. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([key, each]): [string, unknown] => [key, sorted(each)]);
  return Object.fromEntries(fields.sort(([a], [b]) => (a < b ? -1 : 1)));
}
