import { dirname, join, resolve } from 'node:path';
import { textOrNull } from './regular-file.js';

/** Size limit of a script, bytes, and on the modules beside it that are looked into. */
const MOST = 1 << 20;
const MOST_MODULES = 32;

/** The scripts of Python in a command, as text: its files, and `-m` modules below the working directory. */
export function scriptsIn(argv: readonly string[], cwd: string): string[] {
  const paths = argv.flatMap((word, index) => {
    if (/\.(py|sh)$/.test(word)) return [resolve(cwd, word)];
    if (argv[index - 1] !== '-m' || !/^[\w.]+$/.test(word)) return [];
    const module = join(cwd, word.replaceAll('.', '/'));
    return [`${module}.py`, join(module, '__main__.py')];
  });
  return paths.flatMap((path) => {
    const text = textOrNull(path, MOST);
    return text === null ? [] : [text, ...modulesBeside(path, text)];
  });
}

/** The modules in the folder of a script that it imports. */
function modulesBeside(path: string, text: string): string[] {
  const names = [...text.matchAll(/^[ \t]*(?:from|import)[ \t]+([\w.]+)/gm)].map(([, name]) => name!);
  return [...new Set(names)]
    .slice(0, MOST_MODULES)
    .flatMap((name) => textOrNull(join(dirname(path), `${name.replaceAll('.', '/')}.py`), MOST) ?? []);
}

/** Whether a program makes a sweep of W&B itself, and runs its agent: `wandb.sweep(…)` with `wandb.agent(…)`. */
export function hasSweepInside(argv: readonly string[], cwd: string): boolean {
  const texts = scriptsIn(argv, cwd);
  return ['sweep', 'agent'].every((name) => texts.some((text) => isCalled(name, text)));
}

function isCalled(name: string, text: string): boolean {
  const alias = /\bimport[ \t]+wandb[ \t]+as[ \t]+(\w+)/.exec(text)?.[1] ?? 'wandb';
  const imported = new RegExp(`\\bfrom[ \\t]+wandb[ \\t]+import\\b[^\\n]*\\b${name}\\b`);
  return new RegExp(`\\b${alias}\\.${name}\\s*\\(`).test(text) || imported.test(text);
}
