import { answered, mutantsOf, SIGNED_PROFILES } from '../gateway/setup/mutants-of-profiles.js';

const COUNT = 2_000;

export default {
  name: 'signature-mutants',
  says: `fault 40: ${COUNT} mutants of signed deliveries of each of ${SIGNED_PROFILES.length} profiles, over HTTP`,
  async run(report: (line: string) => void): Promise<void> {
    for (const profile of SIGNED_PROFILES) {
      const { statuses, rows, genuine } = await answered(profile, mutantsOf(profile, COUNT));
      const wrong = statuses.filter((status) => status !== 400 && status !== 401);
      report(
        `${profile}: ${statuses.length} mutants, accepted ${rows}, answered otherwise than 400 and 401 ${wrong.length}`,
      );
      if (statuses.length !== COUNT || wrong.length > 0 || rows > 0 || genuine !== 200) {
        throw new Error(`${profile}: ${wrong.join(', ')}, ${rows} rows, the genuine one ${genuine}`);
      }
    }
  },
};
