/** The little of WebAssembly's interface that is used here; Node has it, but neither `lib.es*` nor `@types/node` 20 say so. */
declare namespace WebAssembly {
  class Memory {
    constructor(descriptor: { initial: number; maximum?: number });
    readonly buffer: ArrayBuffer;
    /** Adds pages of 64 KiB. Detaches the old `buffer`. */
    grow(pages: number): number;
  }
  class Module {
    private constructor();
  }
  class Instance {
    private constructor();
    readonly exports: Record<string, unknown>;
  }
  function compile(bytes: Uint8Array): Promise<Module>;
  function instantiate(module: Module, imports: Record<string, Record<string, unknown>>): Promise<Instance>;
}
