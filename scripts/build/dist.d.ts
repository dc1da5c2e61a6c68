type File = { readonly name: string; readonly content: string | Uint8Array; readonly mode?: number };

export declare function sourcesHash(root: string, options: readonly string[]): string;
export declare class Dist {
  constructor(root: string, hash: string);
  isBuilt(): boolean;
  write(file: File): void;
  finish(): void;
  sweep(): void;
}
