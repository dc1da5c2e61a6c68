import { expect, it } from 'vitest';
import { UserError } from '../../../src/base/user-error.js';
import { numbers } from '../mutator.js';
import { planOf } from '../sweeps.js';
import { imported } from './imported.js';

/** More in the long form: `MUTATIONS=100000 npx vitest run test/spec/import/mutated-imports.test.ts`. */
const count = Number(process.env['MUTATIONS'] ?? 150);

const scripts = [
  'A=(1 "b c")\nX=${A[0]}\nfor s in $(seq 1 3) {a,b}{1..2} "${A[@]}"; do\n  id=$(pueue add -p -g g -- python t.py --s "$s" $X > l 2>&1)\n  pueue add -a $id -e -- python e.py $((s * 2))\ndone\n',
  'set -e\ncd d\nexport Y=1\nfor ((i = 0; i < 3; i++)); do SEED=$i ts -N 2 python t.py ${!A[@]} \'q\' "$HOME"; done\n',
  'for a in 1 2; do if [ $a = 1 ]; then python x.py; fi; mkdir -p $a && python y.py | tee l & done\nwait\n',
  'seq 1 3 | parallel -j 4 --header : python t.py --lr={1} {2.} {#} ::: a .1 .2 :::+ b x y :::: f\n',
  '#SBATCH --array=0-3%2 -p gpu\n#SBATCH --gres=gpu:a100:1\nL=(0.1 0.2)\nLR=${L[$((SLURM_ARRAY_TASK_ID % 2))]}\nsrun python t.py --lr $LR $(sed -n "${SLURM_ARRAY_TASK_ID}p" f)\n',
];
const yamls = [
  'defaults: [{override hydra/sweeper: optuna}]\nhydra: { mode: MULTIRUN, sweeper: { n_trials: 3, params: { x: "interval(0,1)", y: "range(0,3)", db/z: "a,b", w: [1] } } }\n',
  'seml: { executable: a.py }\nslurm: [{ sbatch_options: { time: 08:00, gres: gpu:1 } }]\nfixed: { a.b: 1 }\ngrid: { c: { type: range, min: 0, max: 1, step: 0.5 }, d: { type: choice, options: [a, [1]], zip_id: z } }\nsub: { random: { samples: 2, e: { type: loguniform, min: 0.1, max: 1 } } }\n',
  'train: { main: lab/train --x, flags: { lr: [0.1, 1.0], n: "range[1:3]", u: "loguniform[0.1:1]", s: { default: true, arg-switch: true } } }\n',
  'exp: { run: PPO, env: E, num_samples: 2, stop: { r: 1 }, config: { lr: { grid_search: [0.1] }, m: { h: { grid_search: [[1], [2]] } }, k: "tune.choice([1, 2])" } }\n',
];
const pieces = [
  ...[
    'for',
    'do',
    'done',
    'in',
    ';',
    '\n',
    '$',
    '${',
    '}',
    '$(',
    '`',
    ')',
    '((',
    '))',
    '"',
    "'",
    '\\',
    '|',
    '&',
    '&&',
    '<',
    '>',
    '<<',
    '#',
    '{',
    ',',
    '..',
    '[',
    ']',
    '@',
    '!',
  ],
  ...[
    '{1..99999999}',
    '$(seq 1 99999999)',
    '-',
    '--',
    ':::',
    '::::+',
    '{}',
    '{1}',
    '%',
    '0',
    '-1',
    '9'.repeat(30),
    '${run_dir}',
    '${args}',
    '\0',
    '\ud800',
    '\u2028',
    '*',
    '~',
    '=',
    ':',
    ' ',
  ],
  ...['null', '{}', '[]', '- ', '__proto__', 'choice(', 'range(0,1e9)', '&a', '*a', '.inf', '1e999'],
];

function mutated(text: string, draw: () => number): string {
  let result = text;
  for (let change = Math.floor(draw() * 4); change >= 0; change -= 1) {
    const at = Math.floor(draw() * (result.length + 1));
    const length = draw() < 0.5 ? 0 : Math.floor(draw() * 12);
    const piece = draw() < 0.2 ? '' : pieces[Math.floor(draw() * pieces.length)]!;
    result = result.slice(0, at) + piece + result.slice(at + length);
  }
  return result;
}

it('makes a valid sweep file of any file, or refuses it with what to do', { timeout: 3_600_000 }, () => {
  const told = { plan: 0, refused: 0 };
  for (let seed = 0; seed < count; seed += 1) {
    const draw = numbers(seed);
    const isScript = draw() < 0.6;
    const from = isScript ? scripts : yamls;
    const text = mutated(from[Math.floor(draw() * from.length)]!, draw);
    try {
      const made = imported(text, isScript ? 'x.sh' : 'x.yaml', {
        command: !isScript && text.includes('hydra') ? ['python', 'a.py'] : [],
        files: { f: '1\n2\n' },
      });
      const plan = planOf(made.text, { environment: { HOME: '/h' } });
      if (!made.text.includes('${envvar:') && made.commands !== undefined) {
        const words = (all: readonly (readonly string[])[]) => all.map((each) => JSON.stringify(each)).toSorted();
        expect(words(plan.runs.map(({ argv }) => argv))).toEqual(words(made.commands));
      }
      told.plan += 1;
    } catch (error) {
      if (!(error instanceof UserError)) throw new Error(`seed ${seed}: ${JSON.stringify(text)}`, { cause: error });
      expect(error.fix).not.toBe('');
      told.refused += 1;
    }
  }
  expect(told.plan).toBeGreaterThan(count / 20);
  expect(told.refused).toBeGreaterThan(count / 20);
});
