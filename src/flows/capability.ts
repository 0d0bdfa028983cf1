import { z } from 'zod';

/** 43 hexadecimal characters: 172 bits of a MAC that only the store's key can make. */
const LENGTH = 43;

/**
 * The unguessable part of a flow's callback URL. It is derived from the store's own key, so it is stored nowhere, is
 * the same after every retry, and can be checked before the flow's first row exists.
 *
 * @param epoch a different one gives different capabilities, so that leaked ones can be revoked
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
 * All valid capabilities of a flow or an account, in each epoch by every key of the store that is valid for it: a
 * running flow may have one from before a rotation.
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

/** The URL at which the service reports one flow to our gateway. */
export function ownCallbackUrl(
  {
    publicUrl,
    store,
    capabilityEpoch,
  }: {
    readonly publicUrl: string;
    readonly store: Parameters<typeof callbackCapability>[0];
    readonly capabilityEpoch?: number;
  },
  flowId: string,
): string {
  return `${publicUrl.replace(/\/+$/, '')}/callbacks/${flowId}/${callbackCapability(store, flowId, capabilityEpoch)}`;
}

/**
 * Identifies a card that one gateway keeps in memory for a minute: the task queue that only that gateway serves, and a
 * secret. Both are random; they contain nothing of the card.
 */
const CARD_TOKEN = /^towline-cards-[A-Za-z0-9_-]{32}\.[A-Za-z0-9_-]{43}$/;

export const cardToken = () =>
  z.string().regex(CARD_TOKEN, 'must be a card token, as POST /card-tokens of the gateway gives it');

/** First six and last four digits at most, which may be shown. */
export const maskedCard = () =>
  z.string().regex(/^\d{6}\*{2,9}\d{4}$/, 'must be the first six and the last four digits, with * in between');

/** @param random 24 random bytes from the caller */
export const cardQueueOf = (random: Uint8Array): string => `towline-cards-${Buffer.from(random).toString('base64url')}`;

/** @param random 32 bytes */
export const cardTokenOf = (queue: string, random: Uint8Array): string =>
  `${queue}.${Buffer.from(random).toString('base64url')}`;
