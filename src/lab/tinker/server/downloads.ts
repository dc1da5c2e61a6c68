/** Saved weights as files for other programs, at addresses that can be fetched without a key. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { filesOf, isExternal, type Checkpoints } from './checkpoints.js';
import type { ComputationMethods } from './computation.js';
import { FileAnswer, signedFiles } from './http-server.js';
import { Refusal } from './refusal.js';

/** How long an address is valid. Clients ask for new ones when there are less than five minutes left. */
const VALID_MS = 3_600_000;
const archiveFile = '.archive.tar';

export class Downloads {
  readonly #checkpoints: Checkpoints;
  readonly #computing: Pick<ComputationMethods, 'archive'>;
  readonly #now: () => number;
  /** Addresses are valid until the next start at most. */
  readonly #secret = randomBytes(32);

  /** @param now Unix ms. */
  constructor(checkpoints: Checkpoints, computing: Pick<ComputationMethods, 'archive'>, now: () => number) {
    this.#checkpoints = checkpoints;
    this.#computing = computing;
    this.#now = now;
  }

  /** An address for each file of external weights. @param origin Address of the service. */
  urls(path: string, origin: string) {
    const { directory } = this.#checkpoints.open(path);
    if (!isExternal(path)) {
      throw new Refusal(400, `${path} are no external weights. Save them with save_weights_external.`);
    }
    const expires = this.#now() + VALID_MS;
    const urls = filesOf({ directory }).map((name) => [name, this.#url({ path, name, expires }, origin)]);
    return { urls: Object.fromEntries(urls) as Record<string, string>, expires: new Date(expires).toISOString() };
  }

  /** The address of an archive (tar) of weights, as PEFT or transformers read them. The archive is written when it is first asked for. */
  async archive(path: string, origin: string): Promise<string> {
    const { directory } = this.#checkpoints.open(path);
    const file = join(directory, archiveFile);
    if (!existsSync(file)) await this.#computing.archive(directory, file, filesOf({ directory }));
    return this.#url({ path, name: archiveFile, expires: this.#now() + VALID_MS }, origin);
  }

  /**
   * @param place Part of the address after `files/`.
   * @throws Refusal when the address was not made here, or is too old.
   */
  file(place: string): FileAnswer {
    const [signature = '', until = '', name = '', ...rest] = place.split('/');
    const address = { path: `tinker://${rest.join('/')}`, name, expires: Number(until) };
    const expected = this.#signature(address);
    const isOurs =
      signature.length === expected.length && timingSafeEqual(Buffer.from(signature), Buffer.from(expected));
    if (!isOurs) throw new Refusal(403, 'This address was not made by this start of the service; ask for another.');
    if (address.expires <= this.#now()) throw new Refusal(403, 'This address has expired; ask for another.');
    const file = join(this.#checkpoints.open(address.path).directory, name);
    if (!existsSync(file)) throw new Refusal(404, `There is no ${name} of ${address.path}.`);
    return new FileAnswer(file);
  }

  #url(address: Address, origin: string): string {
    const { path, name, expires } = address;
    const place = [this.#signature(address), expires, name, path.slice('tinker://'.length)].join('/');
    return `${origin}${signedFiles}${place}`;
  }

  #signature({ path, name, expires }: Address): string {
    return createHmac('sha256', this.#secret)
      .update(JSON.stringify([path, name, expires]))
      .digest('base64url');
  }
}

/** `expires`: Unix ms. */
type Address = { readonly path: string; readonly name: string; readonly expires: number };
