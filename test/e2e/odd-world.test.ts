import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { program, workplace } from './program.js';

const { write, run, at, folder } = workplace();

/** By a shell: what stands around the program is not as it should be. */
function sh(script: string): { code: number | null; out: string; err: string } {
  const options = { cwd: folder(), encoding: 'utf8', timeout: 60_000 } as const;
  const { status, stdout, stderr } = spawnSync('sh', ['-c', script, process.execPath, program], options);
  return { code: status, out: stdout, err: stderr };
}

async function launch(): Promise<void> {
  write('s.yaml', 'command: [sh, -c, "echo said"]\nparameters: { n: [1, 2] }\n');
  const { code, err } = await run('s.yaml', '--plain');
  expect({ code, err }).toEqual({ code: 0, err: '' });
}

describe('the output', () => {
  it('that cannot be written is told in one line', { tags: ['long'] }, async () => {
    await launch();
    for (const words of ['ls', 'ls --json', 'export s', 'logs n=1', '--help']) {
      const { code, err } = sh(`"$0" "$1" ${words} > /dev/full`);
      expect({ words, code, lines: err.trimEnd().split('\n').length, err }).toMatchObject({ words, code: 2, lines: 1 });
      expect(err).toContain('no space is left there (ENOSPC)');
      expect(sh(`"$0" "$1" ${words} | true`)).toMatchObject({ err: '' });
    }
    // Where not even that can be said, the exit code still is.
    expect(sh('"$0" "$1" status nosuch 2> /dev/full').code).toBe(4);
  });
});

describe('a working directory that is gone', () => {
  it("is said, and stands in nobody's way who names the others", { tags: ['long'] }, async () => {
    await launch();
    const gone = (words: string) => sh(`mkdir gone && cd gone && rmdir ../gone && "$0" "$1" ${words}`);
    for (const words of ['ls', 'report s', `${at('s.yaml')} --dry-run`]) {
      const { code, err } = gone(words);
      expect({ words, code, err }).toMatchObject({ code: 2, err: expect.not.stringContaining('bug') as string });
      expect(err).toContain('→');
    }
    for (const words of ['ls', 'export s', 'logs all']) {
      expect({ words, ...gone(`${words} --runs ${at('runs')}`) }).toMatchObject({ code: 0, err: '' });
    }
    expect(gone('--help').code).toBe(0);
  });
});

describe('an output.log that is none', () => {
  it('is told, and neither waited for nor taken for a bug', { tags: ['long'] }, async () => {
    await launch();
    const log = at('runs/s/n1/output.log');
    const kinds: [string, () => void, RegExp][] = [
      ['a link to itself', () => symlinkSync('output.log', log), /symbolic link/],
      ['a named pipe', () => void execFileSync('mkfifo', [log]), /named pipe/],
      ['a device', () => symlinkSync('/dev/zero', log), /device/],
      ['a directory', () => mkdirSync(log), /directory/],
    ];
    for (const [kind, make, says] of kinds) {
      rmSync(log, { recursive: true });
      make();
      for (const option of [['--grep', 'x'], ['-f']]) {
        const { code, out, err } = await run('logs', 'n1', ...option);
        expect({ kind, option, code, out }).toEqual({ kind, option, code: 0, out: '' });
        if (option[0] !== '-f') expect(err).toMatch(says);
      }
    }
  });
});

describe('a runs directory that is none', () => {
  it('is refused by every verb at once, and nothing is written', { tags: ['long'] }, async () => {
    write('file', '');
    const verbs = ['ls', 'kill x -y', 'slots', 'export x', 'report x'];
    for (const [runs, says] of [
      ['', '--runs is empty'],
      ['file', 'is a file'],
      ['/proc', 'made by the system'],
    ] as const) {
      const answers = await Promise.all(verbs.map((verb) => run(...verb.split(' '), '--runs', runs)));
      for (const [index, { code, out, err }] of answers.entries()) {
        expect({ verb: verbs[index], code, out }).toEqual({ verb: verbs[index], code: 2, out: '' });
        expect(err).toContain(says);
      }
    }
    expect(readdirSync(folder())).toEqual(['file']);
    expect(existsSync('/proc/.supervisor')).toBe(false);
    // Who presses Tab is told nothing.
    for (const runs of ['/proc', 'file', '""']) {
      expect(await run('__complete', 'bash', `memrl-tui kill --runs ${runs} a`)).toEqual({ code: 0, out: '', err: '' });
    }
  });

  it(
    "is read as far as it can be: strange folders and torn files stand in nobody's way",
    { tags: ['long'] },
    async () => {
      await launch();
      mkdirSync(at('runs/empty'));
      mkdirSync(at('runs/s/no-run'));
      writeFileSync(at('runs/loose file'), 'x');
      symlinkSync('loop', at('runs/loop'));
      writeFileSync(at('runs/s/n1/run.json'), '\u0000{"torn');
      for (const words of ['ls', 'report s', 'export s --metrics all', 'logs all']) {
        const { code, err } = await run(...words.split(' '));
        expect({ words, code, err }).toEqual({ words, code: 0, err: '' });
      }
      for (const words of ['report empty', 'report ...', 'export loop', 'export s/n1']) {
        const { code, err } = await run(...words.split(' '));
        expect({ words, code, bug: err.includes('bug') }).toEqual({
          words,
          code: expect.toBeOneOf([2, 4]) as number,
          bug: false,
        });
      }
      expect((await run('report', '')).err).toContain('is empty');
      expect((await run('export', '')).err).toContain('is empty');
    },
  );
});
