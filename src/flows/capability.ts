import { z } from 'zod';

/** 43 hexadecimal characters: 172 bits of a MAC that only the store's key can make. */
const LENGTH = 43;

/**
 * The unguessable part of a flow's callback URL. Derived from the store's own key, so that it is stored nowhere, is the
 * same after every retry, and can be checked before the flow's first row exists.
 *
 * @param epoch another one makes other capabilities, so that those that leaked can be revoked
 */
export function callbackCapability(
  store: { mac(purpose: string, text: string): string },
  flowId: string,
  epoch = FIRST_EPOCH,
): string {
  return store.mac('callback', inEpoch(flowId, epoch)).slice(0, LENGTH);
}

const FIRST_EPOCH = 1;
const inEpoch = (text: string, epoch: number): string => `${epoch} ${text}`;

/**
 * Of a flow or an account, in each epoch by every key of the store that may speak for it: a flow under way has that of
 * before a rotation.
 */
export function capabilitiesOf(
  store: { macsInEpoch(epoch: number, purpose: string, text: string): readonly string[] },
  purpose: 'callback' | 'settlement' | 'webhook',
  id: string,
  epochs: readonly number[],
): readonly string[] {
  return epochs.flatMap((epoch) =>
    store.macsInEpoch(epoch, purpose, inEpoch(id, epoch)).map((mac) => mac.slice(0, LENGTH)),
  );
}

/** Where the service is asked to call back for one flow: a path of the gateway. */
export function callbackUrl(publicUrl: string, flowId: string, capability: string): string {
  return `${publicUrl.replace(/\/+$/, '')}/callbacks/${flowId}/${capability}`;
}

/**
 * Names a card that one gateway keeps in memory for a minute: the task queue on which only that gateway works, and a
 * secret. Both are random; nothing of the card is in it.
 */
const CARD_TOKEN = /^towline-cards-[A-Za-z0-9_-]{32}\.[A-Za-z0-9_-]{43}$/;

export const cardToken = () =>
  z.string().regex(CARD_TOKEN, 'must be a card token, as POST /card-tokens of the gateway gives it');

/** First six and last four digits at most, which may be shown. */
export const maskedCard = () =>
  z.string().regex(/^\d{6}\*{2,9}\d{4}$/, 'must be the first six and the last four digits, with * in between');

/** @param random bytes of the caller's own making: 24 of them */
export const cardQueueOf = (random: Uint8Array): string => `towline-cards-${Buffer.from(random).toString('base64url')}`;

/** @param random 32 bytes */
export const cardTokenOf = (queue: string, random: Uint8Array): string =>
  `${queue}.${Buffer.from(random).toString('base64url')}`;
