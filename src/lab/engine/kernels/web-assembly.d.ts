/**
 * The part of WebAssembly's interface that is used here; Node has it, but neither `lib.es*` nor `@types/node` 20
 * declare it.
 */
declare namespace WebAssembly {
  class Memory {
    constructor(descriptor: { initial: number; maximum?: number; shared?: boolean });
    /** A SharedArrayBuffer when the memory is shared. */
    readonly buffer: ArrayBuffer;
    /**
     * Adds pages of 64 KiB. Detaches the old `buffer`, unless the memory is shared: then the old one keeps its length.
     */
    grow(pages: number): number;
  }
  class Module {
    private constructor();
  }
  class Instance {
    constructor(module: Module, imports: Record<string, Record<string, unknown>>);
    readonly exports: Record<string, unknown>;
  }
  function validate(bytes: Uint8Array): boolean;
  function compile(bytes: Uint8Array): Promise<Module>;
  function instantiate(module: Module, imports: Record<string, Record<string, unknown>>): Promise<Instance>;
}
