/** Word endings and words by which people name what must not be seen. `SSH_AUTH_SOCK` and the like only say where it is. */
const secret =
  /SECRET|PASSW(?:OR)?D|PASSPHRASE|CREDENTIAL|BEARER|(?:KEYS?|TOKENS?|COOKIES?|DSN)(?![A-Z0-9])|(?<![A-Z0-9])(?:AUTH|PASS|PAT)(?![A-Z0-9])|_PWD(?![A-Z0-9])/i;
const whereabouts = /_(?:PATH|FILE|DIR|SOCK|HOME|NAME|USER|HOST|PORT)$/i;

/** Whether a variable of this name holds a key, a password or a token, going by the name. */
export function isSecretName(name: string): boolean {
  return secret.test(name) && !whereabouts.test(name);
}
