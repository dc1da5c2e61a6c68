import { join } from 'node:path';
import { textOrNull } from './regular-file.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** Size limit in bytes; a file of passwords has a few lines. */
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
