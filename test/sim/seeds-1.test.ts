import { describeSeeds } from './seeds.js';

/** What one worker of jest plays in half a minute of CPU; the other half is in `seeds-2`. `npm run sim` plays more. */
describeSeeds('the first half of the seeds', 1, 90);
