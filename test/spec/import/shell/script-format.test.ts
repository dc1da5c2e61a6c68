import { describe, expect, it } from 'vitest';
import { planOf, refusal } from '../../sweeps.js';
import { commandsOf, imported } from '../imported.js';
import { inBash } from './in-bash.js';

/** Scripts, and the number of commands that each starts. */
const scripts: readonly {
  what: string;
  script: string;
  runs: number;
  says?: string;
  files?: Record<string, string>;
}[] = [
  {
    what: 'nested loops around pueue are a grid',
    script:
      'for lr in .1 .01 1e-3; do\n  for seed in 1 2; do\n    pueue add -g gpu -- python train.py --lr $lr --seed $seed\n  done\ndone\n',
    runs: 6,
    says: 'lr: [.1, .01, 1e-3]',
  },
  {
    what: 'sequences, braces and assignments are worked out',
    script:
      'X=5\nNAME="run_$X"\nfor s in $(seq 1 3) {7..9..2} {a,b}c; do pueue add "python train.py --x=$X --name ${NAME}_$s"; done\n',
    runs: 7,
    says: '--name, "run_5_${s}"',
  },
  {
    what: 'pueue joins its words for a shell',
    script: "pueue add -- python train.py --a 'b c' \\; python other.py\npueue add -e -- python train.py --a 'b c'\n",
    runs: 2,
  },
  {
    what: 'task-spooler passes words as they are, with blanks in them',
    script:
      'for name in "a b" c; do tsp -N 2 python train.py --name "$name"; ts python eval.py "--of=$name"; done\n'.replace(
        'tsp',
        'ts',
      ),
    runs: 4,
  },
  {
    what: 'sbatch --wrap is a command',
    script: 'for lr in 0.1 0.01; do sbatch --time=1:00:00 --gres=gpu:1 --wrap="python train.py --lr $lr"; done\n',
    runs: 2,
    says: 'time: "1h"',
  },
  {
    what: 'loops around plain commands',
    script:
      'export SEED=3\nfor lr in 0.1 0.01; do\n  echo "now $lr"\n  python -u train.py --lr="$lr" --out "out/$lr" > log.txt 2>&1 &\ndone\nwait\n'.replace(
        '> log.txt 2>&1 ',
        '',
      ),
    runs: 2,
  },
  {
    what: 'an unused loop repeats its command',
    script: 'for i in 1 2 3; do for lr in 1 2; do pueue add python train.py --lr $lr; done; done\n',
    runs: 6,
  },
  {
    what: 'lists, their indices and arithmetic',
    script:
      'LRS=(0.1 0.01 0.001)\nfor i in ${!X}0 1 2; do pueue add -- python train.py --lr ${LRS[$i]} --port $((8000 + i)); done\n'.replace(
        '${!X}',
        '',
      ),
    runs: 3,
    says: '{ lr: 0.1, port: 8000 }',
  },
  {
    what: 'loops that count, and whole lists',
    script: 'A=(x "y z")\nfor ((i = 0; i < 4; i += 2)); do for a in "${A[@]}"; do ts python t.py $i "$a"; done; done\n',
    runs: 4,
  },
  {
    what: 'arguments in a variable are several words',
    script: 'ARGS="--epochs 3 --fast"\nfor extra in "--a 1" "" "--b"; do python train.py $ARGS $extra; done\n',
    runs: 3,
  },
  {
    what: 'several commands in a loop are one run of bash',
    script:
      'OUT=o\nfor s in 1 2; do\n  d=$OUT/$(basename "x$s")\n  mkdir -p "$d"\n  python prep.py "$d" && python train.py "$d" --seed $s\ndone\n',
    runs: 2,
    says: 'env, "OUT=o"',
  },
  {
    what: 'a second loop of another program waits for the first',
    script: 'for s in 1 2; do python train.py $s; done\nfor s in 1 2; do ./eval.sh $s; done\n',
    runs: 4,
    says: 'needs: [train.py]'.replace('.py', ''),
  },
  {
    what: 'words with signs of a sweep file stay what they are',
    script: "for x in 'a${b}' '*' \"it's\" yes null 007 1_0 -0; do ts python t.py \"$x\" '${args}' '$${x}'; done\n",
    runs: 8,
  },
  {
    what: 'numbers that are written in two ways stay apart',
    script: 'for x in 1 1.0 1e0; do ts python t.py $x; done\n',
    runs: 3,
  },
  {
    what: 'variables before a command are its environment',
    script: 'for s in 1 2; do SEED=$s python train.py; done\n',
    runs: 2,
  },
  {
    what: 'what the launch’s environment has is left to it',
    script: 'ts python train.py --data "$HOME/data" --to=$HOME\n',
    runs: 1,
    says: 'is taken from your environment',
  },
  {
    what: 'a counter, and the GPU that it chooses',
    script:
      'set -eu\nG=(0 1)\ni=0\nfor m in a b c; do\n  SEED=${G[$((i % 2))]} python train.py --model $m --port $((8000 + i)) &\n  i=$((i + 1))\ndone\nwait\n',
    runs: 3,
    says: '{ m: c, port: 8002, SEED: 0 }',
  },
  {
    what: 'indices of a list, and settings of the shell',
    script: 'set -e\nA=(x y)\nfor i in "${!A[@]}"; do ts python t.py $i; done\n',
    runs: 2,
  },
  {
    what: 'what follows a failure with set -e',
    script: 'set -e\nfor s in 1; do python a.py $s; [ $s = 2 ]; python b.py; done\n',
    runs: 1,
  },
  {
    what: 'comments and continued lines',
    script: '# for x in 1 2\nfor s in 1 \\\n  2 # no\ndo # no\n  ts python \\\n    t.py $s#1 # 3\ndone\n',
    runs: 2,
  },
  {
    what: 'values in a file',
    script: 'for x in $(cat values.txt); do ts python t.py $x; done\n',
    files: { 'values.txt': 'a\nb c\n' },
    runs: 3,
  },
];

describe('a script', () => {
  it.each(scripts)('becomes the runs that bash would start: $what', ({ script, runs, says, files = {} }) => {
    const made = imported(script, 'runs.sh', { files });
    const seen = inBash(script, made.text.replaceAll('${envvar:HOME}', '/home/ada'), files);
    expect(seen.sweep).toEqual(seen.script);
    expect(planOf(made.text.replaceAll('${envvar:HOME}', '/home/ada')).runs).toHaveLength(runs);
    if (says !== undefined) expect(made.text).toContain(says);
  });

  it('keeps the order of its loops', () => {
    const script = 'for a in 2 1; do for b in y x; do ts python t.py $a $b; done; done';
    expect(commandsOf(imported(script, 'runs.sh'))).toEqual(
      ['2 y', '2 x', '1 y', '1 x'].map((words) => `python t.py ${words}`),
    );
  });

  it('makes what a task waits for a need of its group', () => {
    const script =
      'for s in 1 2; do\n  id=$(pueue add -p -- python train.py $s)\n  pueue add -a $id -- python eval.py $s\ndone\n';
    const { text } = imported(script, 'runs.sh');
    expect(text).toContain('needs: [{ train: [s] }]');
    const chain = imported('ts python a.py\nts -d python b.py\n', 'runs.sh');
    expect(chain.text).toContain('needs: [a]');
    expect(imported('pueue add -a 3 -- python a.py', 'runs.sh').notes.join()).toContain('`--after 3` is left out');
  });

  it('takes slots from the queue, and says what it leaves out', () => {
    const made = imported(
      'pueue parallel 4 -g gpu\nmodule load cuda\nmkdir -p out\nfor s in 1 2; do pueue add -g gpu -w /data -o 5 -- python t.py $s > x; done\n',
      'runs.sh',
    );
    expect(made.options).toEqual(['--slots', '4']);
    expect(made.text).toContain('cwd: /data');
    expect(made.text).toContain('priority: 5');
    const notes = made.notes.join('\n');
    expect(notes).toContain('line 2: `module load cuda` is left out: type it before the launch.');
    expect(notes).toContain('line 3: `mkdir -p out` is left out');
    expect(notes).toContain('line 4: the group `gpu` of pueue is left out');
  });

  it('reads the options of a job script that is submitted, and its own folder', () => {
    const script = 'cd "$(dirname "$0")"\nfor s in 1 2; do sbatch -p long job.sh $s; done\n';
    const made = imported(script, 'runs.sh', {
      files: { 'job.sh': '#!/bin/sh\n#SBATCH --gres=gpu:2 -p short\npython t.py $1\n' },
    });
    expect(made.text).toContain('resources: { gpus: 2 }\nslurm:\n  partition: long');
    expect(made.notes.join('\n')).toContain('launch the sweep in the folder of the script');
    expect(imported(script, 'runs.sh').notes.join('\n')).toContain('job.sh cannot be read from here');
    const whole = imported('set -e\nfor s in 1 2; do python a.py $s\npython b.py; done\n', 'runs.sh');
    expect(commandsOf(whole)[0]).toBe('env s=1 bash -c ⟨set -e\npython a.py $s\npython b.py;⟩');
  });

  it('is read at once, however long its lines are, and limits what it starts', () => {
    const long = 'a'.repeat(300_000);
    expect(commandsOf(imported(`${' '.repeat(300_000)}\nfor i in 1; do ts x "${long}"; done`, 'runs.sh'))).toEqual([
      `x ${long}`,
    ]);
    const many = refusal(() => imported('for i in {1..200}; do for j in {1..200}; do ts x; done; done', 'runs.sh'));
    expect(many.message).toContain('more than 20,000 commands');
    expect(refusal(() => imported(`for i in 1; do ts ${'$('.repeat(100_000)}`, 'runs.sh')).message).toContain(
      'not closed',
    );
  });

  it('says that equal commands are one run', () => {
    const made = imported('for s in 1 1 2; do ts python t.py $s; done\n', 'runs.sh');
    expect(planOf(made.text).runs).toHaveLength(2);
    expect(made.notes.join()).toContain('3 commands are 2 runs');
  });

  it.each([
    ['for f in *.yaml; do ts python t.py $f; done', 'a pattern stands for the files'],
    ['for s in 1 2; do ts python t.py $1 $s; done', 'can only be worked out by a shell'],
    ['for s in $(python list.py); do ts python t.py $s; done', 'is not known without running it'],
    ['for s in 1 2; do if [ $s = 1 ]; then ts python t.py; fi; done', '`if` cannot be taken over'],
    ['while read x; do ts python t.py $x; done < list', '`while` cannot be taken over'],
    ['for s in 1 2; do python a.py $s || break; done', '`break` decides about other passes'],
    ['i=0\nfor s in 1 2; do python a.py $i; i=$((i + 1)); python b.py; done', '`i` changes inside'],
    ['for s in 1 2; do python a.py $s', 'this loop is not closed'],
    ["for s in 1 2; do python 'a.py $s; done", 'this quote is not closed'],
    ['pueue add --frobnicate x -- python t.py', 'the option `--frobnicate` is not known'],
    ['for s in 1 2; do ts cat <<EOF\nx\nEOF\ndone', 'a here-document'],
    ['for s in 1 2; do ts python a.py < $s; done', 'standard input'],
    ['for i in {1..999999}; do for j in {1..999}; do ts python t.py; done; done', 'words'],
    ['f() { ts python a.py; }\nfor s in 1; do f; done', '`function` cannot be taken over'],
    ['for a in 1; do ts python t.py ${a%.*}; done', 'can only be worked out by a shell'],
    ['for a in $HOME; do ts python t.py $a; done', 'which a sweep file cannot hold'],
  ])('is refused, with its place: %s', (script, why) => {
    const { message, fix } = refusal(() => imported(script, 'runs.sh'));
    expect(message).toContain(why);
    expect(fix).not.toBe('');
  });
});

describe('a line of GNU parallel', () => {
  it.each<{ line: string; commands: string[]; files?: Record<string, string>; options?: string[] }>([
    {
      line: 'parallel -j 4 python train.py --lr {1} --seed {2} ::: .1 .01 ::: 1 2 3',
      commands: ['.1 1', '.1 2', '.1 3', '.01 1', '.01 2', '.01 3'].map(
        (each) => `python train.py --lr ${each.replace(' ', ' --seed ')}`,
      ),
      options: ['--slots', '4'],
    },
    { line: 'parallel python t.py ::: a "b c"', commands: ['python t.py a', 'python t.py ⟨b c⟩'] },
    { line: 'parallel python t.py {} ::: 1 2 ::: x', commands: ['python t.py 1 x', 'python t.py 2 x'] },
    { line: 'parallel python t.py {1} {2} ::: 1 2 3 :::+ x y', commands: ['python t.py 1 x', 'python t.py 2 y'] },
    {
      line: 'parallel --link python t.py {1} {2} ::: 1 2 3 ::: x y',
      commands: ['python t.py 1 x', 'python t.py 2 y', 'python t.py 3 x'],
    },
    {
      line: 'parallel python t.py --c={/.} --n={#} :::: list.txt',
      files: { 'list.txt': 'd/a.yaml\nb.yaml\n' },
      commands: ['python t.py --c=a --n=1', 'python t.py --c=b --n=2'],
    },
    {
      line: 'parallel --header : "python t.py --lr={lr}" ::: lr 1 2',
      commands: ['python t.py --lr=1', 'python t.py --lr=2'],
    },
    {
      line: 'seq 1 2 | parallel -j50% "python a.py {} && python b.py"',
      commands: ['bash -c ⟨python a.py 1 && python b.py⟩', 'bash -c ⟨python a.py 2 && python b.py⟩'],
    },
    {
      line: 'for m in x y; do parallel python t.py $m ::: 1 2; done',
      commands: ['python t.py x 1', 'python t.py x 2', 'python t.py y 1', 'python t.py y 2'],
    },
  ])('$line', ({ line, commands, files = {}, options }) => {
    const made = imported(line, '-', { files });
    expect(commandsOf(made)).toEqual(commands);
    if (options !== undefined) expect(made.options).toEqual(options);
  });

  it.each([
    ['parallel --pipe python t.py ::: 1', 'the option `--pipe` is not known'],
    ['parallel python t.py {%} ::: 1', 'a replacement string that is not known'],
    ['parallel python t.py {3} ::: 1', 'not one of the 1 values'],
    ['parallel python t.py :::: none.txt', 'which cannot be read'],
    ['parallel ::: "python a.py" "python b.py"', 'there is no command'],
  ])('is refused: %s', (line, why) => {
    expect(refusal(() => imported(line, '-')).message).toContain(why);
  });
});

describe('a script for sbatch', () => {
  const head = '#!/bin/bash\n#SBATCH --job-name=x -p gpu\n#SBATCH --gres=gpu:1\n#SBATCH -t 8:00:00 # long\n';

  it('becomes a run for each task, with the values that its number chooses', () => {
    const script = `${head}#SBATCH --array=0-5%2\nmodule load cuda\nLRS=(0.1 0.01 0.001)\nSEEDS=(1 2)\nLR=\${LRS[$((SLURM_ARRAY_TASK_ID / 2))]}\nSEED=\${SEEDS[$((SLURM_ARRAY_TASK_ID % 2))]}\nsrun python train.py --lr $LR --seed $SEED\n`;
    const made = imported(script, 'job.sh');
    expect(commandsOf(made)).toEqual(
      ['0.1 1', '0.1 2', '0.01 1', '0.01 2', '0.001 1', '0.001 2'].map(
        (each) => `srun python train.py --lr ${each.replace(' ', ' --seed ')}`,
      ),
    );
    expect(made.text).toContain('executor: slurm\nresources: { gpus: 1 }\nslurm:\n  partition: gpu\n  time: "8h"');
    expect(made.text).toContain('  LR: [0.1, 0.01, 0.001]\n  SEED: [1, 2]');
    expect(made.options).toEqual(['--slots', '2']);
    expect(made.notes.join('\n')).toContain('line 2: `--job-name` is left out');
    expect(made.notes.join('\n')).toContain('`module load cuda` is left out: type it before the launch.');
  });

  it('reads the line of a file, and leaves the number to a program that reads it itself', () => {
    const script = `#SBATCH --array=1,2\nX=$(sed -n "\${SLURM_ARRAY_TASK_ID}p" list.txt)\npython train.py --x "$X"\n`;
    expect(commandsOf(imported(script, 'job.sh', { files: { 'list.txt': 'a b\nc\n' } }))).toEqual([
      'python train.py --x ⟨a b⟩',
      'python train.py --x c',
    ]);
    const own = imported('#SBATCH --array=0-1\npython train.py\n', 'job.sh');
    expect(planOf(own.text).runs.map(({ env }) => env['SLURM_ARRAY_TASK_ID'])).toEqual(['0', '1']);
  });

  it('is run as a whole for each task where only a shell can tell', () => {
    const script = '#SBATCH --array=0-1\nif [ $SLURM_ARRAY_TASK_ID = 0 ]; then python a.py; else python b.py; fi\n';
    const made = imported(script, 'job.sh');
    expect(commandsOf(made)).toEqual(['bash job.sh', 'bash job.sh']);
    const seen = inBash('for SLURM_ARRAY_TASK_ID in 0 1; do export SLURM_ARRAY_TASK_ID; bash job.sh; done', made.text, {
      'job.sh': script,
    });
    expect(seen.sweep).toEqual(seen.script);
    expect(seen.script).toHaveLength(2);
  });

  it('is one run without an array', () => {
    expect(commandsOf(imported('#SBATCH -c 4\nX=1\npython train.py $X\n', 'job.sh'))).toEqual(['python train.py 1']);
    expect(refusal(() => imported('#SBATCH --array=a-b\npython t.py\n', 'job.sh')).message).toContain(
      'no list of tasks',
    );
  });
});
