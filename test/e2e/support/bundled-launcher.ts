/** The environment variable that names the launcher of the bundled program to tests that start `swapd`. */
export const BUNDLED_LAUNCHER = "SWAPD_TEST_LAUNCHER";
