import { dirname, join, resolve } from 'node:path';
import { textOrNull } from './regular-file.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** Size limit of a script and of a file of passwords, in bytes. */
const MOST = 1 << 20;

/**
 * Whether the user has configured `wandb`: a key in one of the places where wandb itself looks, or a mode. Without either,
 * `wandb.init()` asks for a key, and ends a program that has no terminal.
 */
export function hasWandbAccount(environment: Environment, cwd: string): boolean {
  const isSet = (name: string) => (environment[name] ?? '') !== '';
  if (isSet('WANDB_API_KEY') || isSet('WANDB_IDENTITY_TOKEN_FILE')) return true;
  const home = environment['HOME'] ?? '/';
  const settings = [join(environment['WANDB_CONFIG_DIR'] ?? join(home, '.config', 'wandb'), 'settings')];
  if (settings.concat(join(cwd, 'wandb', 'settings')).some(isTelling)) return true;
  const netrc = isSet('NETRC') ? [environment['NETRC']!] : [join(home, '.netrc'), join(home, '_netrc')];
  const host = hostOf(environment['WANDB_BASE_URL']);
  return netrc.some((path) => namesHost(textOrNull(path, MOST) ?? '', host));
}

function isTelling(path: string): boolean {
  return /^\s*(api_key|mode|identity_token_file)\s*=\s*\S/m.test(textOrNull(path, MOST) ?? '');
}

function hostOf(url = ''): string {
  return /^https?:\/\/([^/]+)/.exec(url)?.[1] ?? 'api.wandb.ai';
}

/** Whether a netrc file has an entry for a host; `default` applies to every other machine. */
function namesHost(netrc: string, host: string): boolean {
  const words = netrc.split(/\s+/);
  return words.some((word, index) => word === 'default' || (word === 'machine' && words[index + 1] === host));
}

/** Limit on the modules beside a script that are looked into. */
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
