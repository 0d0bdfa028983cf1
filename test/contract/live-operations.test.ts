import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { checkProfile } from '../../src/cli/doctor/check-profile.js';
import { liveOperations, operationNames } from '../../src/contract/index.js';
import { LIVE_OPERATIONS } from '../../src/protocol/live-operations.js';
import type { ServiceClient } from '../../src/service-client/index.js';
import { openService, type TestService } from '../harness/service.js';
import { scratchFolder } from '../cli/run.js';

const TOKEN = 'live-token';
const scratch = await scratchFolder();

describe('operations that only the live service has', () => {
  let service: TestService;
  let client: ServiceClient;
  beforeAll(async () => {
    const dbPath = join(scratch, 'sandbox.db');
    service = await openService({ sandbox: { dbPath, token: TOKEN }, timeoutMs: 5_000 });
    client = service.service;
  });
  afterAll(() => service.close());
  const serves = (liveOperations: boolean) => service.control('POST', '/settings', { liveOperations });
  const found = (serviceProfile: readonly (typeof LIVE_OPERATIONS)[number][]) =>
    checkProfile({ serviceBaseUrl: service.sandbox.url, serviceToken: TOKEN, serviceTimeoutMs: 5_000, serviceProfile });

  it('are none of the interface, and each that a flow uses is in the contract', () => {
    expect(operationNames.filter((name) => name in liveOperations)).toEqual([]);
    expect(LIVE_OPERATIONS.filter((name) => !(name in liveOperations))).toEqual([]);
  });

  it('are read by the contract as the sandbox answers them', async () => {
    await serves(true);
    const bankDetails = { bankCode: '0250', accountNumber: '62000000001' };
    await client.createBankWithdrawal({ referenceId: 'w-1', bankDetails, currency: 'ZAR', amount: 250.5 });
    expect(await client.getBankWithdrawal('w-1')).toMatchObject({ status: expect.any(String), amount: '250.5' });
    const missing = { name: 'RejectedError', isNotFound: true };
    await expect(client.getCardDeposit('none')).rejects.toMatchObject(missing);
    await expect(client.getBridgeDeposit('none')).rejects.toMatchObject(missing);
    const invoice = { referenceId: 'none', bolt11: 'lnbc1', amount_msat: 1 };
    await expect(client.submitRefundInvoice(invoice)).rejects.toMatchObject({ name: 'RejectedError', httpStatus: 404 });
  });

  it('a path that the service does not know is no missing record', async () => {
    await serves(false);
    await expect(client.getBankWithdrawal('w-1')).rejects.toMatchObject({ httpStatus: 404, isNotFound: false });
  });

  it.each([
    [true, LIVE_OPERATIONS, ['good']],
    [true, [], ['note']],
    [false, [], ['good']],
    [false, LIVE_OPERATIONS, ['note']],
  ] as const)('the doctor compares what the service has (%s) with the setting', async (isLive, profile, verdicts) => {
    await serves(isLive);
    const findings = await found(profile);
    expect(findings.map(({ verdict }) => verdict)).toEqual(verdicts);
    expect(findings[0]?.sentence).toContain(isLive ? 'SERVICE_PROFILE=live' : 'SERVICE_PROFILE=interface');
  });
});
