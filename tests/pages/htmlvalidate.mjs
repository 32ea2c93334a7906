/* What the built pages are held to by html-validate: HTML's own rules and those of accessibility. */
export default {
  root: true,
  extends: ["html-validate:standard", "html-validate:a11y", "html-validate:document"],
  rules: {
    "prefer-native-element": "off", // a matter of style: a div with a role is as valid
    "require-sri": ["error", { target: "crossorigin" }], // pages load their own files alone, as their policy says
  },
};
