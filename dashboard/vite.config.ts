import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const place = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Three files with names that stay, so that the daemon serves a list that it knows. */
export default defineConfig({
  root: place("."),
  base: "./",
  logLevel: "warn",
  build: {
    outDir: place("built"),
    emptyOutDir: true,
    target: "es2022",
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    rollupOptions: {
      output: {
        entryFileNames: "page.js",
        chunkFileNames: "[name].js",
        assetFileNames: "page[extname]",
      },
    },
  },
});
