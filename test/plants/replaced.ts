/** What takes the place of a module's exports, each by its name. */
export interface Replaced {
  /** Path from the root. */
  readonly module: string;
  /** From the module as it is to the value that its importers get. The module itself keeps its own. */
  readonly exports: Readonly<Record<string, (honest: never) => unknown>>;
}

/** Changes of the product, by their names. */
export type Plants = Readonly<Record<string, readonly Replaced[]>>;

/** Of a constant: any other value of its type. */
type Widened<Value> = Value extends string ? string : Value extends number ? number : Value;

/** One module's part of a change: the compiler checks the names, and a test the path. */
export function replacing<Module>(
  module: string,
  exports: { readonly [Name in keyof Module]?: (honest: Module) => Widened<Module[Name]> },
): Replaced {
  return { module, exports: exports as Replaced['exports'] };
}
