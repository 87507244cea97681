import { defineConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

export default defineConfig({
  plugins: [viteSingleFile({ removeViteModuleLoader: true })],
  build: { target: "es2022", outDir: "dist", assetsInlineLimit: 100000000, reportCompressedSize: false },
  worker: { format: "iife" },
});
