import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { UserError } from '../../base/user-error.js';
import { decodeOrder, KNOWN } from '../../protocol/host-order.js';
import { shellQuote } from '../../text/shell-words.js';
import { at, own, retype } from '../ports.js';

/**
 * An order of memrl-tui on another host: goes to its directory and makes its words those of this process, as if they had been typed
 * here. Gives the exit code where nothing more is to be done; null: the words are to be run.
 *
 * @throws {UserError} When the directory or the sweep file is not on this host.
 */
export async function takeOrder(text: string): Promise<number | null> {
  if (text === KNOWN) return 0;
  const order = decodeOrder(text);
  Object.assign(own().env, order.look);
  enter(order);
  if (order.window !== undefined) return (await import('./relay.js')).relay(order.window);
  if (order.file !== null && !existsSync(at(order.file.path))) throw noFile(order.file, order);
  retype(order.words);
  return null;
}

type Order = ReturnType<typeof decodeOrder>;

function enter({ directory, host }: Order): void {
  const path = directory?.replace(/^~(?=\/|$)/, '.') ?? '.';
  try {
    own().chdir(resolve(homedir(), path));
  } catch (cause) {
    throw new UserError(
      `There is no directory ${resolve(homedir(), path)} on ${host}.`,
      'Name one that is there behind the host: `--host HOST:DIRECTORY`, relative to your home directory.',
      { cause },
    );
  }
}

function noFile({ path, isHere }: NonNullable<Order['file']>, { host }: Order): UserError {
  const problem = `There is no sweep file ${path} in ${own().cwd()} on ${host}; with --host it is read there.`;
  const copy = `scp ${shellQuote([path, `${host}:${own().cwd()}/`])}`;
  return new UserError(
    problem,
    isHere
      ? `Copy it there with what it starts, \`${copy}\`, or name the directory that has it: \`--host ${host}:DIRECTORY\`.`
      : `Name the directory that has it: \`--host ${host}:DIRECTORY\`.`,
  );
}
