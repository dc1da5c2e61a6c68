import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSecretName, redactedParameters, redactor, redactShapes, redactWords } from '../../src/text/redaction.js';

describe('a variable', () => {
  it.each([
    ...['WANDB_API_KEY', 'HF_TOKEN', 'AWS_SECRET_ACCESS_KEY', 'PGPASSWORD', 'DB_PASSWD', 'SENTRY_DSN', 'NPM_AUTH'],
    ...['session_cookie', 'GOOGLE_CREDENTIALS', 'githubToken', 'MYSQL_PWD', 'GITHUB_PAT', 'SSH_PASSPHRASE', 'API_KEYS'],
  ])('called %s holds a secret', (name) => expect(isSecretName(name)).toBe(true));

  it.each([
    ...['PATH', 'HOME', 'PWD', 'OLDPWD', 'GIT_AUTHOR_NAME', 'SSH_AUTH_SOCK', 'TOKENIZERS_PARALLELISM', 'KEYBOARD'],
    ...['GOOGLE_CREDENTIALS_FILE', 'PATTERN', 'PASSENGERS', 'XAUTHORITY'],
  ])('called %s holds none', (name) => expect(isSecretName(name)).toBe(false));
});

describe('a text', () => {
  const environment = {
    WANDB_API_KEY: 'local-abcdefgh',
    LONGER_KEY: 'local-abcdefgh-and-more',
    HF_TOKEN: 'short',
    DATABASE_URL: 'postgres://me:p%40ssw0rd!@db.example:5432/x',
    SSH_KEY: '-----BEGIN KEY-----\nfirst line of the key\nsecond line of it\n-----END KEY-----\n',
    HOME: '/home/somebody',
  };
  const redact = redactor(environment);

  it.each([
    { text: 'key local-abcdefgh!', shown: 'key ***!' },
    { text: 'local-abcdefgh-and-more', shown: '***' },
    { text: 'local-abcdefghlocal-abcdefgh', shown: '***' },
    { text: 'a short word', shown: 'a short word' },
    { text: 'auth failed for p@ssw0rd!', shown: 'auth failed for ***' },
    { text: 'auth failed for p%40ssw0rd!', shown: 'auth failed for ***' },
    { text: 'it was: first line of the key', shown: 'it was: ***' },
    { text: 'in /home/somebody/x', shown: 'in /home/somebody/x' },
  ])('of the environment: $text', ({ text, shown }) => expect(redact(text)).toBe(shown));

  it.each([
    { text: 'https://user:hunter2@host/x', shown: 'https://user:***@host/x' },
    { text: 'https://0123456789abcdef0123456789abcdef@sentry.io/1', shown: 'https://***@sentry.io/1' },
    { text: 'git@github.com:me/x and ssh://git@host/x', shown: 'git@github.com:me/x and ssh://git@host/x' },
    { text: 'OPENAI sk-proj-abcdefghij0123456789', shown: 'OPENAI ***' },
    { text: 'task-abcdefghij0123456789abcd', shown: 'task-abcdefghij0123456789abcd' },
    { text: `ghp_${'a1'.repeat(18)}`, shown: '***' },
    { text: `hf_${'Ab'.repeat(17)} is it`, shown: '*** is it' },
    { text: 'AKIAIOSFODNN7EXAMPLE', shown: '***' },
    { text: 'Authorization: Bearer abc.def-123', shown: 'Authorization: Bearer ***' },
    { text: '--api-key=0123456789', shown: '--api-key=***' },
    { text: '{"password": "correct horse"}', shown: '{"password": "***"}' },
    { text: 'fixed_secret=123456789 max_tokens=12345678', shown: 'fixed_secret=123456789 max_tokens=12345678' },
    { text: 'eos_token=<|endoftext|> tokens: 123456789', shown: 'eos_token=<|endoftext|> tokens: 123456789' },
    { text: '-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nrest', shown: '***\nrest' },
    { text: '0123456789abcdef0123456789abcdef01234567', shown: '0123456789abcdef0123456789abcdef01234567' },
  ])('by its look: $text', ({ text, shown }) => expect(redactShapes(text)).toBe(shown));

  it.each([
    { words: ['x', '--password', 'correct horse', 'y'], shown: ['x', '--password', '***', 'y'] },
    { words: ['--wandb-api-key', 'abcdefgh12'], shown: ['--wandb-api-key', '***'] },
    { words: ['--max-tokens', '1234567890'], shown: ['--max-tokens', '1234567890'] },
    { words: ['--eos-token', '<|endoftext|>'], shown: ['--eos-token', '<|endoftext|>'] },
    { words: ['--token', 'abc'], shown: ['--token', 'abc'] },
  ])('as the words of a command: $words', ({ words, shown }) => {
    expect(redactWords(words, redactShapes)).toEqual(shown);
  });
});

describe('whatever the environment and the text', () => {
  const secret = fc.string({ minLength: 8, maxLength: 30 }).filter((value) => !value.includes('*'));
  const environments = fc.dictionary(fc.constantFrom('A_KEY', 'B_TOKEN', 'PASSWORD', 'C_SECRET', 'MY_DSN'), secret);

  it('no secret is left, alone, in JSON or in an address', () => {
    const cases = fc.tuple(environments, fc.array(fc.string({ maxLength: 10 })), fc.infiniteStream(fc.nat()));
    fc.assert(
      fc.property(cases, ([environment, pieces, choices]) => {
        const values = Object.values(environment).filter((value) => !value.includes('*'));
        const forms = [...values, ...values.map((value) => JSON.stringify(value)), ...values.map(encodeURIComponent)];
        const text = pieces.map((piece) => piece + (forms[choices.next().value % (forms.length || 1)] ?? '')).join('');
        const shown = redactor(environment)(text);
        for (const value of values) expect(shown).not.toContain(value);
      }),
    );
  });

  it('a text without secrets stays as it is', () => {
    const words = fc.array(fc.constantFrom('loss', '0.12', 'step=3', '/tmp/x.py', 'N_256', '—'));
    fc.assert(
      fc.property(environments, words, (environment, list) => {
        const text = list.join(' ');
        fc.pre(Object.values(environment).every((value) => !text.includes(value)));
        expect(redactor(environment)(text)).toBe(text);
      }),
    );
  });

  it('is the same when done twice', () => {
    fc.assert(
      fc.property(environments, fc.string(), (environment, text) => {
        const redact = redactor(environment);
        const once = redact(text + Object.values(environment).join(text));
        expect(redact(once)).toBe(once);
      }),
    );
  });
});

describe('parameters', () => {
  const redact = redactor({ MY_TOKEN: 'correct-horse-battery' });

  it('hold no secret of the environment, and none by their name', () => {
    const parameters = {
      lr: 0.1,
      data: 'at correct-horse-battery',
      keys: ['correct-horse-battery', 'b', 3],
      'wandb.api_key': 'looks-like-nothing',
      hf_token: 'looks-like-nothing',
      password: 'looks-like-nothing',
      max_tokens: 4096,
      tokenizer: 'looks-like-nothing',
    };
    expect(redactedParameters(parameters, redact)).toEqual({
      ...parameters,
      ...{ data: 'at ***', keys: ['***', 'b', 3], 'wandb.api_key': '***', hf_token: '***', password: '***' },
    });
  });

  it('are the very same where there is none, whatever their names', () => {
    const parameters = JSON.parse('{"__proto__": "a", "constructor": "b", "n": null}') as Record<string, string>;
    expect(redactedParameters(parameters, redact)).toBe(parameters);
    const changed = JSON.parse('{"__proto__": "correct-horse-battery"}') as Record<string, string>;
    expect(JSON.stringify(redactedParameters(changed, redact))).toBe('{"__proto__":"***"}');
  });
});
