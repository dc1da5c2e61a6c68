/** Saved weights on the disk, under the paths by which clients name them: `tinker://MODEL/weights/NAME`. */
import { cpSync, existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { makeDirectory } from '../../run/make-directory.js';
import { readJson } from '../../run/read-json.js';
import { writeWhole } from '../../run/run-directory.js';
import { draftEnding, folderOf, isModelId, servedWeights, weightKinds } from '../../run/served-weights.js';
import { Refusal } from './refusal.js';
import type { LoraSettings } from './parameters.js';

type CheckpointKind = (typeof weightKinds)[number];

/** The last time that can be written as a date, Unix ms. */
const LATEST = 8.64e15;

/** Facts that are stored beside the weights. */
const Manifest = z.object({
  base_model: z.string(),
  lora: z.object({
    rank: z.int().min(0),
    seed: z.int(),
    trainUnembed: z.boolean(),
    trainMlp: z.boolean(),
    trainAttn: z.boolean(),
  }),
  saved_at: z.number().min(0).max(LATEST),
  /** Unix ms; null for weights that never expire. Earlier versions took any number. */
  expires_at: z
    .number()
    .transform((at) => Math.max(0, Math.min(at, LATEST)))
    .nullable(),
  user_metadata: z.record(z.string(), z.string()).nullable(),
});
type Manifest = z.infer<typeof Manifest>;

/** Facts recorded with saved weights. `ttl`: seconds until they expire; null: never. */
type Facts = {
  readonly base: string;
  readonly lora: LoraSettings;
  readonly ttl: number | null;
  readonly metadata: Record<string, string> | null;
};

export type Checkpoint = { readonly path: string; readonly directory: string; readonly manifest: Manifest };

const manifestFile = 'tinker.json';
/** Ending of directories with weights that an unfinished save is about to replace: no name may have a tilde. */
const oldEnding = `~${draftEnding}`;

export class Checkpoints {
  readonly #home: string;
  readonly #now: () => number;

  /** @param now Unix ms. */
  constructor(home: string, now: () => number) {
    this.#home = home;
    this.#now = now;
  }

  /**
   * Saves weights under a name: whole, or not at all.
   *
   * @param save Writes them into a directory that exists.
   * @throws Refusal when the name is taken and `overwrite` is false.
   */
  async write(
    place: {
      readonly model: string;
      readonly kind: CheckpointKind;
      readonly name: string;
      readonly overwrite: boolean;
    },
    facts: Facts,
    save: (directory: string) => Promise<void>,
  ): Promise<string> {
    const { model, kind, name, overwrite } = place;
    const path = `tinker://${model}/${kind}/${name}`;
    const directory = this.#directoryOf(path);
    if (existsSync(directory) && !overwrite) throw new Refusal(409, `There is already ${path}; save with overwrite.`);
    this.#removeExpired(model);
    const draft = `${directory}${draftEnding}`;
    rmSync(draft, { recursive: true, force: true });
    try {
      makeDirectory(draft, 'directory');
      await save(draft);
      this.#finish(directory, draft, facts);
    } catch (error) {
      // The draft is removed, because on a full disk it would take the space of a smaller save.
      rmSync(draft, { recursive: true, force: true });
      throw error;
    }
    return path;
  }

  /** Renames a draft to its final name. The weights that it replaces are restored on failure. */
  #finish(directory: string, draft: string, facts: Facts): void {
    const now = this.#now();
    const manifest: Manifest = {
      base_model: facts.base,
      lora: facts.lora,
      saved_at: now,
      expires_at: expiry(now, facts.ttl),
      user_metadata: facts.metadata,
    };
    writeManifest(draft, manifest);
    // The old weights move out of the way first, so that no directory is ever half old and half new.
    const old = `${directory}${oldEnding}`;
    if (existsSync(directory)) renameSync(directory, old);
    try {
      renameSync(draft, directory);
    } catch (error) {
      if (existsSync(old)) renameSync(old, directory);
      throw error;
    }
    rmSync(old, { recursive: true, force: true });
  }

  /** Opens the weights at a `tinker://` path. @throws Refusal when there are none. */
  open(path: string): Checkpoint {
    const found = this.#read(path);
    if (this.#hasExpired(found)) throw new Refusal(404, `The weights at ${path} have expired.`);
    return found;
  }

  /** Opens weights that the service itself can read. @throws Refusal for those that were saved for other programs. */
  openOwn(path: string): Checkpoint {
    const found = this.open(path);
    if (!isExternal(path)) return found;
    throw new Refusal(400, `${path} are weights for other programs. Save with save_state what is to be read here.`);
  }

  /**
   * Copies weights to the name of a new model, which nobody trains. The copy does not expire with its source.
   * @param ttl Seconds until the copy expires; null for never.
   * @returns the path of the copy.
   */
  copy(path: string, model: string, ttl: number | null): Promise<string> {
    const { directory, manifest } = this.open(path);
    const [, , , kind, name] = path.split('/') as [string, string, string, CheckpointKind, string];
    const { base_model: base, lora, user_metadata: metadata } = manifest;
    const copying = async (draft: string) => cpSync(directory, draft, { recursive: true });
    // A request that is sent again makes the same copy again.
    return this.write({ model, kind, name, overwrite: true }, { base, lora, ttl, metadata }, copying);
  }

  /** @param seconds Time from now on after which the weights expire; null for never. */
  keepFor(path: string, seconds: number | null): void {
    const { directory, manifest } = this.open(path);
    writeManifest(directory, { ...manifest, expires_at: expiry(this.#now(), seconds) });
  }

  /** Removes weights, expired ones included: they take space until then. */
  remove(path: string): void {
    rmSync(this.#read(path).directory, { recursive: true, force: true });
  }

  /** The checkpoints of one model, the oldest first. */
  ofModel(model: string): Checkpoint[] {
    const usable = this.#stored(model).filter((each) => !this.#hasExpired(each));
    return usable.sort((a, b) => a.manifest.saved_at - b.manifest.saved_at);
  }

  /** Ids of the models that have saved weights. */
  models(): string[] {
    return namesIn(this.#home).map((folder) => folder.replaceAll('+', ':'));
  }

  /**
   * Removes expired weights and unfinished saves. Weights that an unfinished save was about to replace are restored.
   */
  clean(): void {
    for (const model of this.models()) {
      for (const kind of weightKinds) this.#removeDrafts(join(this.#home, folderOf(model), kind));
      this.#removeExpired(model);
    }
  }

  #removeDrafts(folder: string): void {
    const drafts = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(draftEnding)) : [];
    for (const name of drafts) {
      const whole = join(folder, name.slice(0, -oldEnding.length));
      if (name.endsWith(oldEnding) && !existsSync(whole)) renameSync(join(folder, name), whole);
      else rmSync(join(folder, name), { recursive: true, force: true });
    }
  }

  #removeExpired(model: string): void {
    for (const each of this.#stored(model)) {
      if (this.#hasExpired(each)) rmSync(each.directory, { recursive: true, force: true });
    }
  }

  #hasExpired({ manifest }: Checkpoint): boolean {
    return manifest.expires_at !== null && manifest.expires_at <= this.#now();
  }

  /** All checkpoints of a model that can be read, expired or not. */
  #stored(model: string): Checkpoint[] {
    if (!isModelId(model)) return [];
    const folder = join(this.#home, folderOf(model));
    const paths = weightKinds.flatMap((kind) =>
      namesIn(join(folder, kind)).map((name) => `tinker://${model}/${kind}/${name}`),
    );
    return paths.flatMap((path) => {
      try {
        return [this.#read(path)];
      } catch {
        return [];
      }
    });
  }

  #read(path: string): Checkpoint {
    const directory = this.#directoryOf(path);
    const file = join(directory, manifestFile);
    if (!existsSync(file)) throw new Refusal(404, `There are no weights at ${path}.`);
    const manifest = Manifest.safeParse(readJson(file));
    if (!manifest.success) throw new Refusal(404, `The weights at ${path} do not belong to this service.`);
    return { path, directory, manifest: manifest.data };
  }

  /** The directory of a path. No path leads out of the home. */
  #directoryOf(path: string): string {
    const directory = servedWeights(path, this.#home);
    if (directory !== null) return directory;
    throw new Refusal(
      400,
      `${JSON.stringify(path.slice(0, 300))} is not a path of weights: tinker://MODEL/weights/NAME, and a name of letters, digits, "_", "-" and ".".`,
    );
  }
}

/** @param now Unix ms. */
function expiry(now: number, seconds: number | null): number | null {
  return seconds === null ? null : now + seconds * 1000;
}

function writeManifest(directory: string, manifest: Manifest): void {
  writeWhole(join(directory, manifestFile), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Whether weights at a `tinker://` path were saved for other programs. */
export function isExternal(path: string): boolean {
  return path.includes('/external_weights/');
}

/** Names of the files of weights, without the facts that the service stores beside them. */
export function filesOf({ directory }: Pick<Checkpoint, 'directory'>): string[] {
  return readdirSync(directory).filter((name) => name !== manifestFile && !name.startsWith('.'));
}

/** Sum of the sizes of the files in a directory, in bytes. */
export function sizeOf(directory: string): number {
  const bytesOf = (name: string) => statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0;
  return readdirSync(directory).reduce((sum, name) => sum + bytesOf(name), 0);
}

function namesIn(folder: string): string[] {
  const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  return isFolder ? readdirSync(folder).filter((name) => !name.endsWith(draftEnding)) : [];
}
