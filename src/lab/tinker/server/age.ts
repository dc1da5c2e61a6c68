/**
 * Encrypts files for their receivers in the format age (age-encryption.org/v1), with which clients of the protocol have weights sent to
 * them. Only keys of the format's own kind (X25519) are known here.
 */
import {
  createCipheriv,
  createHmac,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  randomBytes,
  type KeyObject,
} from 'node:crypto';
import { UserError } from '../../../base/user-error.js';

const version = 'age-encryption.org/v1';
const CHUNK = 64 * 2 ** 10;

/** A public key, as 32 bytes. */
type Recipient = Uint8Array;

/** Reads a public key, `age1…`. @throws UserError when the text is no such key. */
export function recipientOf(text: string): Recipient {
  const bytes = /^age1[02-9ac-hj-np-z]{58}$/.test(text) ? bech32(text, 'age') : null;
  if (bytes?.length === 32) return bytes;
  throw new UserError(
    `${JSON.stringify(text.slice(0, 40))} is not a public key of age.`,
    'Give keys that begin with age1; keys of SSH are not supported here.',
  );
}

/** @param recipients Any of them can decrypt it. At least one. */
export function encrypt(content: Uint8Array, recipients: readonly Recipient[]): Buffer {
  const fileKey = randomBytes(16);
  const stanzas = recipients.map((recipient) => stanza(fileKey, recipient));
  const header = `${version}\n${stanzas.join('')}---`;
  const proof = createHmac('sha256', deriveKey(fileKey, '', 'header'))
    .update(header)
    .digest();
  const nonce = randomBytes(16);
  const key = deriveKey(fileKey, nonce, 'payload');
  return Buffer.concat([Buffer.from(`${header} ${base64(proof)}\n`), nonce, ...sealedChunks(content, key)]);
}

/** The key of the file, wrapped for one receiver. */
function stanza(fileKey: Uint8Array, recipient: Recipient): string {
  const { publicKey, privateKey } = generateKeyPairSync('x25519');
  const share = Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url');
  const shared = diffieHellman({ privateKey, publicKey: publicKeyOf(recipient) });
  const wrapping = deriveKey(shared, Buffer.concat([share, recipient]), `${version}/X25519`);
  return `-> X25519 ${base64(share)}\n${base64(seal(fileKey, wrapping, Buffer.alloc(12)))}\n`;
}

function publicKeyOf(bytes: Uint8Array): KeyObject {
  const x = Buffer.from(bytes).toString('base64url');
  return createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x }, format: 'jwk' });
}

function* sealedChunks(content: Uint8Array, key: Uint8Array): Generator<Buffer> {
  const chunks = Math.max(1, Math.ceil(content.length / CHUNK));
  for (let index = 0; index < chunks; index++) {
    // The number of the chunk, and whether it is the last.
    const nonce = Buffer.alloc(12);
    nonce.writeUIntBE(index, 5, 6);
    nonce[11] = index === chunks - 1 ? 1 : 0;
    yield seal(content.subarray(index * CHUNK, (index + 1) * CHUNK), key, nonce);
  }
}

function seal(content: Uint8Array, key: Uint8Array, nonce: Uint8Array): Buffer {
  const cipher = createCipheriv('chacha20-poly1305', key, nonce, { authTagLength: 16 });
  return Buffer.concat([cipher.update(content), cipher.final(), cipher.getAuthTag()]);
}

function deriveKey(secret: Uint8Array, salt: Uint8Array | string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, salt, purpose, 32));
}

/** Base64 without padding. */
function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replace(/=+$/, '');
}

const alphabet = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const CHECKSUM = 6;

/** Bytes of a text in Bech32 (BIP 173); null when its checksum is wrong. */
function bech32(text: string, prefix: string): Uint8Array | null {
  const digits = Array.from(text.slice(prefix.length + 1), (letter) => alphabet.indexOf(letter));
  const codes = Array.from(prefix, (letter) => letter.charCodeAt(0));
  const expanded = [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31)];
  if (polynomial([...expanded, ...digits]) !== 1) return null;
  const bits = digits.slice(0, -CHECKSUM).map((digit) => digit.toString(2).padStart(5, '0')).join(''); // prettier-ignore
  return Uint8Array.from({ length: Math.floor(bits.length / 8) }, (_, at) =>
    parseInt(bits.slice(at * 8, at * 8 + 8), 2),
  );
}

function polynomial(digits: readonly number[]): number {
  const generators = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
  let sum = 1;
  for (const digit of digits) {
    const top = sum >>> 25;
    sum = ((sum & 0x1ffffff) << 5) ^ digit;
    generators.forEach((generator, bit) => {
      if ((top >>> bit) & 1) sum ^= generator;
    });
  }
  return sum;
}
