/** What Jest's own module system does for `@jest/globals`: the package itself only says that it is not to be loaded. */
export function resolve(specifier, context, nextResolve) {
  if (specifier !== '@jest/globals') return nextResolve(specifier, context);
  return { url: new URL('globals.mjs', import.meta.url).href, shortCircuit: true };
}
