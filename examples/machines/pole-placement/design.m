% Gains that put the eigenvalues of the upright pole where we want them, by Ackermann's formula. Before it:
%
%   alphastep linearize model.yaml --set parameters.lean=0 --set parameters.on=0 --inputs parameters.push \
%     --outputs joints.rail.displacement,joints.hinge.angle,joints.rail.displacement_rate,joints.hinge.angle_rate \
%     --format mat -o pole.mat
load pole.mat
T = C;                                   % from the states to what the formula of the motor reads
a = T * A / T;
b = T * B;
p = poly([-2 + 2i, -2 - 2i, -4, -5]);
K = [0 0 0 1] / [b, a*b, a^2*b, a^3*b] * polyvalm(real(p), a);
printf('parameters.k%d=%.10g\n', [1:4; K]);
