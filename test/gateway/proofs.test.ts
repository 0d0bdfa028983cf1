import { describe, expect, it } from '@jest/globals';
import { serviceProofs } from '../../src/gateway/inbound/receive-event.js';

const SIGNED = ['signature', 'person'];
const BY_URL = ['capability', 'person'];
const EITHER = ['signature', 'capability', 'person'];

describe('what proves that an event comes from the service', () => {
  it.each([
    ['standard-webhooks', SIGNED],
    ['raw-hmac', SIGNED],
    ['json-hmac', SIGNED],
    ['unsigned', BY_URL],
  ] as const)('is with WEBHOOK_PROFILE=%s: %j, whatever else is set', (webhookProfile, proofs) => {
    for (const source of ['callback', 'webhook'] as const)
      for (const serviceSignsCallbacks of [true, false])
        for (const canSign of [true, false])
          expect(serviceProofs({ webhookProfile, serviceSignsCallbacks }, source, canSign)).toEqual(proofs);
  });

  it.each([
    ['callback', true, true, SIGNED],
    ['callback', true, false, EITHER],
    ['callback', false, true, EITHER],
    ['callback', false, false, EITHER],
    ['webhook', true, true, SIGNED],
    ['webhook', true, false, SIGNED],
    ['webhook', false, true, EITHER],
    ['webhook', false, false, EITHER],
  ] as const)(
    'is with WEBHOOK_PROFILE=auto for a %s, if the service can sign: %s, and signs callbacks: %s, %j',
    (source, canSign, serviceSignsCallbacks, proofs) => {
      expect(serviceProofs({ webhookProfile: 'auto', serviceSignsCallbacks }, source, canSign)).toEqual(proofs);
    },
  );
});
