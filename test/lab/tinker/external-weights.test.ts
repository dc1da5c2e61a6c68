import {
  createDecipheriv,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
} from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readPeft } from '../../../src/lab/hugging-face/peft.js';
import { loadModel } from '../../../src/lab/hugging-face/directory.js';
import { readModel } from '../../../src/lab/run/model-files.js';
import { recipientOf } from '../../../src/lab/tinker/server/age.js';
import { removeFolder } from '../../remove-folder.js';
import { tempDirectory } from '../temp-directory.js';
import { runningService, withModel, type RunningService } from './running-service.js';

let service: RunningService;
const directory = mkdtempSync(join(tmpdir(), 'memrl-serve-'));
beforeAll(async () => {
  service = await runningService(directory);
});
afterAll(async () => {
  await service.close();
  removeFolder(directory);
});

type Urls = { readonly urls: Record<string, string>; readonly expires: string };

const placeOf = (path: string) => path.replace('tinker://', 'training_runs/').replace(/(:train:\d+)/, '$1/checkpoints');
const urlsOf = async (path: string) =>
  (await service.ask('GET', `${placeOf(path)}/external_weights_urls`)).body as unknown as Urls;

async function saved(lora: object, more: object = {}): Promise<{ model: string; path: string }> {
  const { model } = await withModel(service, lora);
  await service.result('save_weights', { model_id: model, seq_id: 1, path: 'own' });
  const body = { model_id: model, seq_id: 2, path: 'out', type: 'save_weights_external', ...more };
  return { model, path: (await service.result('save_weights_external', body)).body.path };
}

/** Fetches all files, as the cookbook does: without a key. */
async function downloaded(path: string, change = (bytes: Buffer) => bytes): Promise<string> {
  const target = tempDirectory();
  for (const [name, url] of Object.entries((await urlsOf(path)).urls)) {
    const response = await fetch(url);
    expect(response.status).toBe(200);
    writeFileSync(join(target, name.replace(/\.age$/, '')), change(Buffer.from(await response.arrayBuffer())));
  }
  return target;
}

const ownDirectory = (model: string) => join(directory, 'checkpoints', model.replaceAll(':', '+'), 'weights/own');

describe('external weights', () => {
  it('are a LoRA for peft, with the numbers of the checkpoint and the path of its model', async () => {
    const { model, path } = await saved({ rank: 4, seed: 3 });
    expect(path).toBe(`tinker://${model}/external_weights/out`);
    const target = await downloaded(path);
    const own = readModel(ownDirectory(model));
    expect(readPeft(target, own.shape).parameters).toEqual(own.adapters!.parameters);
    const config = JSON.parse(readFileSync(join(target, 'adapter_config.json'), 'utf8')) as Record<string, unknown>;
    expect(config).toMatchObject({
      r: 4,
      lora_alpha: 32,
      base_model_name_or_path: join(directory, 'models/memrl-tiny'),
    });
  });

  it('are a model for transformers when all weights are trained', async () => {
    const { model, path } = await saved({ rank: 0 });
    const { config, weights } = loadModel(await downloaded(path));
    const own = readModel(ownDirectory(model));
    expect([config.shape.tied, weights]).toEqual([false, own.weights]);
  });

  it('are encrypted to the client’s keys, and decrypt to the same files', async () => {
    const [one, other] = [generateKeyPairSync('x25519'), generateKeyPairSync('x25519')];
    const keys = [one, other].map(({ publicKey }) => ageKey(rawOf(publicKey)));
    const { model, path } = await saved({ rank: 4, seed: 3 }, { age_encryption_recipients: keys });
    const names = Object.keys((await urlsOf(path)).urls);
    expect(names.sort()).toEqual(['adapter_config.json.age', 'adapter_model.safetensors.age']);
    for (const [index, pair] of [one, other].entries()) {
      const target = await downloaded(path, (bytes) => decrypted(bytes, pair, index));
      const own = readModel(ownDirectory(model));
      expect(readPeft(target, own.shape).parameters).toEqual(own.adapters!.parameters);
    }
  });

  it('have addresses that expire at the next start, and cannot be loaded by the service itself', async () => {
    const { model, path } = await saved({ rank: 1 });
    const { urls, expires } = await urlsOf(path);
    expect(Date.parse(expires) - Date.now()).toBeGreaterThan(50 * 60_000);
    const [url] = Object.values(urls);
    const changed = [
      url!.replace(/files\/./, (start) => (start.endsWith('A') ? 'files/B' : 'files/A')),
      url!.replace('adapter_', 'tinker_'),
      url!.replace(/\/(\d{13})\//, '/1$1/'),
    ];
    for (const each of changed) expect((await fetch(each)).status).toBe(403);
    const loading = await service.result('load_weights', { model_id: model, seq_id: 3, path });
    expect(loading.body.error).toMatch(/weights for other programs/);
    const bad = { model_id: model, seq_id: 4, path: 'x', age_encryption_recipients: ['ssh-ed25519 AAAA'] };
    expect((await service.result('save_weights_external', bad)).body.error).toMatch(/begin with age1/);
    expect((await service.ask('GET', `${placeOf(path.replace('external_', ''))}/external_weights_urls`)).status).toBe(
      404,
    );
    expect((await service.ask('DELETE', placeOf(path))).status).toBe(200);
    expect((await fetch(url!)).status).toBe(404);
  });
});

it('an archive of weights has the files of peft, at the address of a redirect', async () => {
  const { model } = await saved({ rank: 2, seed: 3 });
  const answer = await fetch(`${service.url}/api/v1/${placeOf(`tinker://${model}/weights/own`)}/archive`, {
    headers: { 'x-api-key': 'tml-test' },
    redirect: 'manual',
  });
  expect(answer.status).toBe(302);
  const tar = Buffer.from(await (await fetch(answer.headers.get('location')!)).arrayBuffer());
  const target = tempDirectory();
  for (const [name, content] of filesOfTar(tar)) writeFileSync(join(target, name), content);
  const own = readModel(ownDirectory(model));
  expect(readPeft(target, own.shape).parameters).toEqual(own.adapters!.parameters);
});

function* filesOfTar(tar: Buffer): Generator<[string, Buffer]> {
  for (let at = 0; tar[at] !== 0;) {
    const header = Buffer.from(tar.subarray(at, at + 512));
    const field = (from: number, to: number) => header.toString('latin1', from, to).replace(/[\0 ].*/s, '');
    const [size, sum] = [parseInt(field(124, 136), 8), parseInt(field(148, 156), 8)];
    header.fill(' ', 148, 156);
    expect(header.reduce((all, byte) => all + byte, 0)).toBe(sum);
    yield [field(0, 100), tar.subarray(at + 512, at + 512 + size)];
    at += 512 + 512 * Math.ceil(size / 512);
  }
}

function rawOf(key: KeyObject): Buffer {
  return Buffer.from(key.export({ format: 'jwk' }).x!, 'base64url');
}

/** Undoes one receiver's part of the format, step by step. */
function decrypted(
  file: Buffer,
  { privateKey, publicKey }: { privateKey: KeyObject; publicKey: KeyObject },
  index: number,
): Buffer {
  const begin = file.indexOf('\n--- ');
  const end = file.indexOf('\n', begin + 1) + 1;
  const [version, ...lines] = file.toString('latin1', 0, begin).split('\n');
  const share = Buffer.from(lines[2 * index]!.split(' ')[2]!, 'base64');
  const x = share.toString('base64url');
  const shared = diffieHellman({
    privateKey,
    publicKey: createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x }, format: 'jwk' }),
  });
  const wrapping = hkdfSync('sha256', shared, Buffer.concat([share, rawOf(publicKey)]), `${version}/X25519`, 32);
  const fileKey = opened(Buffer.from(lines[2 * index + 1]!, 'base64'), Buffer.from(wrapping), Buffer.alloc(12));
  const key = Buffer.from(hkdfSync('sha256', fileKey, file.subarray(end, end + 16), 'payload', 32));
  const parts: Buffer[] = [];
  for (let at = end + 16, chunk = 0; at < file.length; at += 65_552, chunk++) {
    const nonce = Buffer.alloc(12);
    nonce.writeUInt32BE(chunk, 7);
    nonce[11] = at + 65_552 >= file.length ? 1 : 0;
    parts.push(opened(file.subarray(at, at + 65_552), key, nonce));
  }
  return Buffer.concat(parts);
}

function opened(sealed: Buffer, key: Buffer, nonce: Buffer): Buffer {
  const cipher = createDecipheriv('chacha20-poly1305', key, nonce, { authTagLength: 16 });
  cipher.setAuthTag(sealed.subarray(-16));
  return Buffer.concat([cipher.update(sealed.subarray(0, -16)), cipher.final()]);
}

const alphabet = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';

/** The key as its text: Bech32, with the checksum found by trying that which the service accepts digit by digit. */
function ageKey(raw: Buffer): string {
  const bits = `${Array.from(raw, (byte) => byte.toString(2).padStart(8, '0')).join('')}0000`;
  const digits = Array.from({ length: 52 }, (_, at) => parseInt(bits.slice(5 * at, 5 * at + 5), 2));
  const prefix = [3, 3, 3, 0, 1, 7, 5];
  const rest = checksum([...prefix, ...digits, 0, 0, 0, 0, 0, 0]) ^ 1;
  const sums = Array.from({ length: 6 }, (_, at) => (rest >>> (5 * (5 - at))) & 31);
  const text = `age1${[...digits, ...sums].map((digit) => alphabet[digit]).join('')}`;
  expect(Buffer.from(recipientOf(text))).toEqual(raw);
  return text;
}

function checksum(digits: readonly number[]): number {
  return digits.reduce((sum, digit) => {
    const mixed = ((sum & 0x1ffffff) << 5) ^ digit;
    const generators = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
    return generators.reduce((all, generator, bit) => ((sum >>> (25 + bit)) & 1 ? all ^ generator : all), mixed);
  }, 1);
}

it('a public key that age made is parsed, and refused with one wrong letter', () => {
  const key = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';
  expect(recipientOf(key)).toHaveLength(32);
  expect(() => recipientOf(key.replace('ql3', 'qm3'))).toThrow('is not a public key of age');
});
