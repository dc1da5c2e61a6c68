/** Weights as other programs read them: PEFT for a LoRA, transformers for a whole model. */
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { exportAdapter, exportModel } from '../../hugging-face/export-model.js';
import { isOwn, readModel } from '../../run/model-files.js';
import { encrypt, recipientOf } from './age.js';

/** Encrypts the files in a directory, and adds `.age` to their names. @param recipients Public keys, `age1…`. */
export function encryptFiles(directory: string, recipients: readonly string[]): void {
  const keys = recipients.map(recipientOf);
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    writeFileSync(`${path}.age`, encrypt(readFileSync(path), keys));
    rmSync(path);
  }
}

/**
 * Packs weights into an archive (tar).
 *
 * @param directory External weights, or a checkpoint of memrl, which is first written for other programs.
 * @param files Names of the files that are packed of external weights.
 */
export async function writeArchive(directory: string, target: string, files: readonly string[]): Promise<void> {
  const [draft, exported] = [`${target}.draft`, `${target}.files`];
  rmSync(exported, { recursive: true, force: true });
  try {
    if (!isOwn(directory)) writeTar(draft, directory, files);
    else {
      if (readModel(directory).adapters === null) await exportModel(directory, exported);
      else exportAdapter(directory, exported);
      writeTar(draft, exported, readdirSync(exported));
    }
    renameSync(draft, target);
  } finally {
    rmSync(exported, { recursive: true, force: true });
    rmSync(draft, { force: true });
  }
}

const BLOCK = 512;

/** Writes files as POSIX's ustar has them. */
function writeTar(target: string, directory: string, names: readonly string[]): void {
  const file = openSync(target, 'w');
  try {
    for (const name of names.toSorted()) {
      const path = join(directory, name);
      const { size } = statSync(path);
      const padding = Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
      for (const part of [tarHeader(name, size), readFileSync(path), padding]) writeSync(file, part);
    }
    writeSync(file, Buffer.alloc(2 * BLOCK));
  } finally {
    closeSync(file);
  }
}

function tarHeader(name: string, size: number): Buffer {
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, '0')}\0`;
  const put = (text: string, at: number) => header.write(text, at, 'latin1');
  put(name, 0);
  put(octal(0o644, 7), 100);
  // Owner and group are 0, and so is the time: the same weights give the same archive.
  put(octal(0, 7), 108);
  put(octal(0, 7), 116);
  put(octal(size, 11), 124);
  put(octal(0, 11), 136);
  // The checksum counts its own field as spaces.
  put(' '.repeat(8), 148);
  put('0', 156);
  put('ustar\x0000', 257);
  put(
    `${octal(
      header.reduce((sum, byte) => sum + byte, 0),
      6,
    )} `,
    148,
  );
  return header;
}
