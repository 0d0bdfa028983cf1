import type { Tokens } from '../account/tokens.js';
import type { Handler } from './handler.js';

/** Each call makes a new key; those before stay valid. */
export function createCreateApiKey(deps: { tokens: Tokens; createId: () => string }): Handler<'createApiKey'> {
  const { tokens, createId } = deps;
  return () => {
    const key = `key-${createId()}`;
    tokens.keep('api-key', key);
    return { message: 'API key created', data: { key } };
  };
}
